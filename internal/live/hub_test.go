package live_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/internal/history"
	"lockstep/internal/live"
	"lockstep/internal/witness"
)

const patience = 20 * time.Second

// stage is a shop that plays what it is told.
type stage struct {
	mu       sync.Mutex
	look     live.Look
	played   []witness.Event
	follow   int // how often it was followed
	followed int // how many follow it
	looks    int
	news     chan struct{}
}

func newStage(lock string) *stage {
	return &stage{look: live.Look{Report: history.Report{RunID: "one", Lock: lock, Initial: 200, Remaining: 200}}, news: make(chan struct{})}
}

func (s *stage) play(events ...witness.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.played = append(s.played, events...)
	close(s.news)
	s.news = make(chan struct{})
}

func (s *stage) Follow(ctx context.Context, see func(...witness.Event)) {
	s.mu.Lock()
	s.follow++
	s.followed++
	s.mu.Unlock()
	for seen := 0; ctx.Err() == nil; {
		s.mu.Lock()
		events, news := s.played[seen:], s.news
		seen = len(s.played)
		s.mu.Unlock()
		see(events...)
		select {
		case <-news:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	s.followed--
	s.mu.Unlock()
}

func (s *stage) Look(context.Context) (live.Look, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	return s.look, nil
}

func (s *stage) set(change func(*live.Look)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.look)
}

// script writes events, at milliseconds.
type script struct {
	began time.Time
	run   string
	ids   map[string]uint64
	all   []witness.Event
}

func newScript(run string) *script {
	return &script{began: time.Now().Add(-time.Minute), run: run, ids: map[string]uint64{}}
}

func (s *script) add(ms int, sale string, event witness.Event) {
	at := s.began.Add(time.Duration(ms) * time.Millisecond)
	event.Replica, event.Sale, event.Sent, event.Replied = witness.ReplicaOf(sale), sale, at, at
	if !strings.Contains(sale, "#") {
		event.Sale = ""
	}
	s.ids[event.Replica]++
	event.ID = s.ids[event.Replica]
	s.all = append(s.all, event)
}

func (s *script) moment(ms int, sale string, kind witness.Kind) {
	event := witness.Event{Kind: kind}
	if kind == witness.KindAsks {
		event.Run, event.Owner, event.Process = s.run, "distributedLock:"+sale, witness.ReplicaOf(sale)+"-process"
	}
	s.add(ms, sale, event)
}

func (s *script) command(ms int, sale string, command witness.Command) {
	if command.Outcome == "" {
		command.Outcome = witness.Done
	}
	if command.Holder == "" {
		command.Holder = sale
	}
	s.add(ms, sale, witness.Event{Kind: witness.KindCommand, Command: &command})
}

// sale is one from its asking to its end; take and give say what it does to the lock.
func (s *script) sale(name string, asks, obtains, leaves int, stock int64) {
	s.moment(asks, name, witness.KindAsks)
	s.command(obtains, name, witness.Command{Verb: witness.Takes, TTL: witness.Millis(3 * time.Second)})
	s.moment(obtains, name, witness.KindObtains)
	s.command(obtains, name, witness.Command{Verb: witness.Reads, Stock: stock})
	s.command(leaves, name, witness.Command{Verb: witness.Writes, Stock: stock - 1})
	s.moment(leaves, name, witness.KindLeaves)
	s.command(leaves, name, witness.Command{Verb: witness.Removes, Forced: true})
	s.moment(leaves, name, witness.KindReleased)
	s.moment(leaves, name, witness.KindEnds)
}

// foreignDelete is v2's: the expiry is three seconds, and the work takes five.
func foreignDelete() []witness.Event {
	s := newScript("one")
	s.sale("r1#1", 0, 0, 5000, 200)
	s.sale("r2#1", 700, 3001, 8001, 200)
	slices.SortStableFunc(s.all, func(a, b witness.Event) int { return a.Replied.Compare(b.Replied) })
	return s.all
}

// frame is one that a watcher was sent.
type frame struct{ id, name, data string }

// watcher reads frames.
type watcher struct {
	t      *testing.T
	frames chan frame
	leave  context.CancelFunc
	seen   []frame
}

func watch(t *testing.T, url, lang, last string) *watcher {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	w := &watcher{t: t, frames: make(chan frame, 1000), leave: leave}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/live?lang="+lang, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Last-Event-ID", last)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer close(w.frames)
		read(response, w.frames)
	}()
	t.Cleanup(func() { leave(); <-over })
	return w
}

func read(response *http.Response, frames chan<- frame) {
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	var f frame
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			f.id = value
		case "event":
			f.name = value
		case "data":
			f.data = value
			frames <- f
		}
	}
}

// until reads until a frame has a name and a text, and gives it.
func (w *watcher) until(name, text string) frame {
	w.t.Helper()
	late := time.After(patience)
	for {
		select {
		case f, is := <-w.frames:
			if !is {
				w.t.Fatalf("the stream ended before %s with %q; seen: %v", name, text, w.seen)
			}
			w.seen = append(w.seen, f)
			if f.name == name && strings.Contains(f.data, text) {
				return f
			}
		case <-late:
			w.t.Fatalf("there is no %s with %q; seen: %v", name, text, w.seen)
		}
	}
}

// show serves a hub.
func show(t *testing.T, shop live.Shop, change ...func(*live.Hub)) (*live.Hub, string) {
	t.Helper()
	hub := &live.Hub{Shop: shop, Now: time.Now}
	for _, do := range change {
		do(hub)
	}
	server := httptest.NewServer((&live.Server{Hub: hub, Bursts: &live.Bursts{}}).Handler())
	t.Cleanup(func() {
		hub.Close()
		server.Close()
	})
	return hub, server.URL
}

func linger(d time.Duration) func(*live.Hub) { return func(h *live.Hub) { h.Linger = d } }

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	late := time.After(patience)
	for !holds() {
		select {
		case <-late:
			t.Fatal("still not: " + what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func decode(t *testing.T, f frame, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(f.data), into); err != nil {
		t.Fatalf("%s: %v", f.data, err)
	}
}

// The foreign delete of v2 is seen, named, and explained in both languages; the lanes and the rail show it.
func TestForeignDelete(t *testing.T) {
	t.Parallel()
	shop := newStage("v2")
	_, url := show(t, shop)
	shop.play(foreignDelete()...)
	english, chinese := watch(t, url, "en", ""), watch(t, url, "zh", "")
	var run live.RunFrame
	decode(t, english.until("run", `"fresh":true`), &run)
	if run.RunID != "one" || run.Lock != "v2" || run.Title != "with an expiry" {
		t.Errorf("the run is %+v", run)
	}
	var removed live.FindingFrame
	decode(t, english.until("finding", "r1#1 removed r2#1's lock"), &removed)
	if removed.At != 5000 || !removed.Bad || removed.Why == "" || !slices.Equal(removed.Sales, []string{"r1#1", "r2#1"}) {
		t.Errorf("it is told as %+v", removed)
	}
	chinese.until("finding", "r1#1 删除了 r2#1 的锁")
	var lanes live.LanesFrame
	decode(t, english.until("lanes", "r2#1"), &lanes)
	checkLanes(t, lanes)
	shop.set(func(look *live.Look) {
		look.Report.Sold, look.Report.Remaining, look.Report.Lost, look.Report.Verdict = 2, 199, 1, history.Oversold
	})
	english.until("tally", "2 sold, the stock felt 1: 1 update was lost")
	chinese.until("tally", "卖出 2 件，库存只减了 1 件：丢失了 1 次扣减")
}

func checkLanes(t *testing.T, lanes live.LanesFrame) {
	t.Helper()
	var spans []string
	for _, lane := range lanes.Sales {
		text := lane.Name
		for _, span := range lane.Spans {
			text += fmt.Sprintf(" %s %d-%d", span.Kind, span.From, *span.To)
		}
		spans = append(spans, text+" "+lane.Ended)
	}
	want := []string{"r1#1 inside 0-3000 late 3000-5000 sold", "r2#1 waits 700-3001 inside 3001-5000 late 5000-8001 sold"}
	if !slices.Equal(spans, want) {
		t.Errorf("the lanes are\n%q; want\n%q", spans, want)
	}
	var rail []string
	for _, stay := range lanes.Rail {
		rail = append(rail, fmt.Sprintf("%s %d-%d %s %s, expires %d", stay.Holder, stay.From, *stay.To, stay.End, stay.By, *stay.Expires))
	}
	if want := []string{"r1#1 0-3000 expired , expires 3000", "r2#1 3001-5000 removed r1#1, expires 6001"}; !slices.Equal(rail, want) {
		t.Errorf("the rail is\n%q; want\n%q", rail, want)
	}
}

// What is sections, stock, and two that were inside together.
func TestSectionsAndStock(t *testing.T) {
	t.Parallel()
	shop := newStage("v2")
	_, url := show(t, shop)
	shop.play(foreignDelete()...)
	w := watch(t, url, "en", "")
	w.until("finding", "r1#1 and r2#1 were inside together for 2.0 s")
	w.until("stock", `{"at":8001,"stock":199,"sold":2}`)
	sections := w.seen[slices.IndexFunc(w.seen, func(f frame) bool { return f.name == "sections" })]
	want := `[{"sale":"r1#1","replica":"r1","from":0,"to":5000,"overlaps":["r2#1"],"with":1},` +
		`{"sale":"r2#1","replica":"r2","from":3001,"to":8001,"overlaps":["r1#1"],"with":1}]`
	if sections.data != want {
		t.Errorf("the sections are\n%s; want\n%s", sections.data, want)
	}
	response, err := http.Get(url + "/live/pair?a=r1%231&b=r2%231&lang=en") //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var drawn struct {
		Actors []string
		Steps  []struct{ Says string }
	}
	if err := json.NewDecoder(response.Body).Decode(&drawn); err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, step := range drawn.Steps {
		said += step.Says + "\n"
	}
	if !strings.Contains(said, "r1#1 removed r2#1's lock") || !slices.Equal(drawn.Actors, []string{"r1#1", "r2#1"}) {
		t.Errorf("the two are drawn as %+v", drawn)
	}
}

// A watcher that comes back gets what it has not seen, once. One that comes from another run gets everything.
func TestLastEventID(t *testing.T) {
	t.Parallel()
	shop := newStage("v2")
	_, url := show(t, shop, linger(patience))
	events := foreignDelete()
	half := slices.IndexFunc(events, func(e witness.Event) bool { return e.Kind == witness.KindEnds }) + 1
	shop.play(events[:half]...)
	first := watch(t, url, "en", "")
	seen := first.until("lanes", `"ended":"sold"`)
	first.leave()
	shop.play(events[half:]...)
	second := watch(t, url, "en", seen.id)
	second.until("lanes", `"late","from":5000,"to":8001`)
	for _, f := range second.seen {
		if f.name == "run" || f.name == "sections" && strings.Contains(f.data, `"sale":"r1#1"`) ||
			slices.ContainsFunc(first.seen, func(old frame) bool { return old.id == f.id }) {
			t.Errorf("it is sent again: %v", f)
		}
	}
	third := watch(t, url, "en", "other.7")
	third.until("sections", "r1#1")
	if third.seen[0].name != "run" {
		t.Errorf("to a stranger, %v comes first", third.seen[0])
	}
	if shop.follow != 1 {
		t.Errorf("the shop was followed %d times", shop.follow)
	}
}

// A new run begins everything anew, and what comes before anybody knows of it is not lost.
func TestNewRun(t *testing.T) {
	t.Parallel()
	shop := newStage("v2")
	_, url := show(t, shop)
	shop.play(foreignDelete()...)
	w := watch(t, url, "en", "")
	w.until("sections", "r2#1")
	next := newScript("two")
	next.sale("r1#2", 20000, 20000, 20010, 50)
	shop.set(func(look *live.Look) { look.Report.RunID, look.Report.Lock, look.Report.Initial = "two", "v4", 50 })
	shop.play(next.all...)
	w.until("run", `"run_id":"two"`)
	w.until("sections", `[{"sale":"r1#2","replica":"r1","from":0,"to":10,`)
	late := watch(t, url, "en", "")
	late.until("sections", "r1#2")
	for _, f := range late.seen {
		if strings.Contains(f.data, "r2#1") {
			t.Errorf("of the run before, there is %v", f)
		}
	}
}

// A replica that is stopped shows as a pause in the lanes of its sales, and one that dies ends them.
func TestPauseAndDeath(t *testing.T) {
	t.Parallel()
	shop := newStage("v4")
	hub, url := show(t, shop)
	s := newScript("one")
	s.moment(0, "r1#1", witness.KindAsks)
	s.command(0, "r1#1", witness.Command{Verb: witness.Takes, TTL: witness.Millis(time.Hour)})
	s.moment(0, "r1#1", witness.KindObtains)
	shop.play(s.all...)
	w := watch(t, url, "en", "")
	w.until("lanes", "r1#1")
	s.moment(100, "r1", witness.KindStops)
	s.moment(300, "r1", witness.KindGoes)
	s.moment(400, "r1", witness.KindDies)
	for _, event := range s.all[len(s.all)-3:] {
		hub.Note(event)
	}
	w.until("finding", "r1 stops, timers and all")
	w.until("finding", "r1 dies")
	w.until("lanes", `"spans":[{"kind":"inside","from":0,"to":100},{"kind":"paused","from":100,"to":300},`+
		`{"kind":"inside","from":300,"to":400}],"ended":"died"`)
}

// A replica that is stopped tells late what it did before. What was told too early is taken back.
func TestSilentReplica(t *testing.T) {
	t.Parallel()
	shop := newStage("v4")
	_, url := show(t, shop)
	s := newScript("one")
	s.sale("r1#1", 0, 0, 1000, 200)
	s.sale("r2#1", 500, 1001, 1500, 199)
	left := slices.IndexFunc(s.all, func(e witness.Event) bool { return e.Kind == witness.KindLeaves })
	told := slices.Clone(s.all[left : left+4]) // all that r1 says from then on
	shop.play(slices.Delete(s.all, left, left+4)...)
	w := watch(t, url, "en", "")
	early := w.until("finding", "r1#1 and r2#1 are inside together")
	shop.play(told...)
	var late live.FindingFrame
	decode(t, w.until("finding", "r1#1 had left before r2#1 came in"), &late)
	if late.Bad || !strings.Contains(early.data, `"id":"`+late.ID+`"`) {
		t.Errorf("%s is corrected by %+v", early.data, late)
	}
}

// Only while somebody watches is the shop followed, once for all; and some time after the last has left.
func TestOnlyWhileWatched(t *testing.T) {
	t.Parallel()
	shop := newStage("v4")
	_, url := show(t, shop, linger(10*time.Millisecond))
	counts := func() (follow, followed int) {
		shop.mu.Lock()
		defer shop.mu.Unlock()
		return shop.follow, shop.followed
	}
	if follow, _ := counts(); follow != 0 || shop.looks != 0 {
		t.Fatal("nobody watches, and the shop is followed")
	}
	one, two := watch(t, url, "en", ""), watch(t, url, "zh", "")
	one.until("run", "")
	two.until("run", "")
	eventually(t, "the shop is followed", func() bool { _, followed := counts(); return followed == 1 })
	if follow, _ := counts(); follow != 1 {
		t.Errorf("two watch, and the shop is followed %d times", follow)
	}
	one.leave()
	two.leave()
	eventually(t, "the shop is followed no more", func() bool { _, followed := counts(); return followed == 0 })
	three := watch(t, url, "en", "")
	three.until("run", "")
}

// A watcher that does not read is dropped; the others see everything.
func TestSlowWatcherIsDropped(t *testing.T) {
	t.Parallel()
	shop := newStage("v4")
	hub, url := show(t, shop, func(h *live.Hub) { h.Slow = 300 * time.Millisecond })
	fast := watch(t, url, "en", "")
	fast.until("run", "")
	dropped := make(chan struct{})
	slow := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(dropped)
		hub.ServeHTTP(w, r)
	}))
	slow.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		_ = c.(*net.TCPConn).SetWriteBuffer(4096) // or the system would keep megabytes for it
		return ctx
	}
	slow.Start()
	defer slow.Close()
	conn, err := net.Dial("tcp", slow.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(4096)
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: shop\r\n\r\n") // and it never reads
	s, n := newScript("one"), 0
	late := time.After(patience)
	for going := true; going; {
		for range 500 { // sections that overlap, so that there is much to tell
			n++
			s.sale(fmt.Sprintf("r1#%d", n), n, n, n+200, 200)
		}
		shop.play(s.all...)
		s.all = nil
		select {
		case <-dropped:
			going = false
		case <-late:
			t.Fatal("it is still there")
		case <-time.After(20 * time.Millisecond):
		}
	}
	fast.until("sections", fmt.Sprintf(`"sale":"r1#%d"`, n))
}

// What it is asked wrongly it says.
func TestWrongQuestions(t *testing.T) {
	t.Parallel()
	_, url := show(t, newStage("v4"))
	for path, want := range map[string]string{
		"/live?lang=fr":           `400 {"error":{"code":"bad_request"`,
		"/live/pair?a=r1%231":     `400 {"error":{"code":"bad_request"`,
		"/live/pair?a=r1%231&b=x": `404 {"error":{"code":"no_sale"`,
		"/bursts/7":               `404 {"error":{"code":"no_burst"`,
		"/bursts":                 `404 {"error":{"code":"not_found"`,
	} {
		response, err := http.Get(url + path) //nolint:noctx // a test
		if err != nil {
			t.Fatal(err)
		}
		text, _ := bufio.NewReader(response.Body).ReadString('\n')
		response.Body.Close()
		if got := fmt.Sprint(response.StatusCode, " ", text); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s; want %s", path, got, want)
		}
	}
}
