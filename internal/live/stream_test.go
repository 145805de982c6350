package live_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/internal/api/route"
	"lockstep/internal/live"
	"lockstep/internal/witness"
)

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
		if f.name == "run" && strings.Contains(f.data, `"fresh":true`) || f.name == "sections" && strings.Contains(f.data, `"sale":"A"`) ||
			slices.ContainsFunc(first.seen, func(old frame) bool { return old.id == f.id }) {
			t.Errorf("it is sent again: %v", f)
		}
	}
	third := watch(t, url, "en", "other.7")
	third.until("sections", "A")
	if third.seen[0].name != "run" {
		t.Errorf("to a stranger, %v comes first", third.seen[0])
	}
	if shop.follow != 1 {
		t.Errorf("the shop was followed %d times", shop.follow)
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
	hub, url := show(t, shop, func(h *live.Hub) { h.WriteTimeout = 2 * time.Second }) // more than a busy machine keeps the fast one waiting
	fast := watch(t, url, "en", "")
	fast.until("run", "")
	dropped := make(chan struct{})
	slow := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(dropped)
		_ = (&live.Server{Hub: hub}).Routes()[0].Handle(w, r)
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
	const sales = 3000                                       // whose sections overlap: far more to tell than the system keeps for it
	s := newScript("one")
	for n := range sales {
		s.sale(fmt.Sprintf("r1#%d", n+1), n+1, n+1, n+201, 200)
	}
	events := witness.InOrder(s.all)
	late := time.After(patience)
	for going := true; going; {
		next := min(len(events), 4500)
		shop.play(events[:next]...)
		events = events[next:]
		select {
		case <-dropped:
			going = false
		case <-late:
			t.Fatal("it is still there")
		case <-time.After(100 * time.Millisecond):
		}
	}
	fast.until("sections", fmt.Sprintf(`"from":%d,`, sales-1))
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
		"/bursts":                 `200 []`,
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

// A server that ends takes no burst, and says why.
func TestNoBurstAtTheEnd(t *testing.T) {
	t.Parallel()
	bursts := &live.Bursts{}
	bursts.Close()
	server := httptest.NewServer(route.Mux((&live.Server{Hub: &live.Hub{}, Bursts: bursts}).Routes()...))
	defer server.Close()
	response, err := http.Post(server.URL+"/bursts", "application/json", strings.NewReader(`{"n":1,"c":1}`)) //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if got := fmt.Sprint(response.StatusCode, " ", string(text)); err != nil || !strings.HasPrefix(got, `503 {"error":{"code":"ending"`) {
		t.Errorf("%s, %v; want 503 ending", got, err)
	}
}
