package witness_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/api/sse"
	"lockstep/internal/dao"
	"lockstep/internal/lock"
	"lockstep/internal/lockv2"
	"lockstep/internal/lockv6"
	"lockstep/internal/service"
	"lockstep/internal/witness"
	"lockstep/util/lua"
)

const patience = 20 * time.Second

// shelf is an embedded Redis whose commands a recorder sees.
type shelf struct {
	*dao.Redis
	recorder *witness.Recorder
	sent     *counter
}

func open(t testing.TB) shelf { return opened(t, true) }

func opened(t testing.TB, seen bool) shelf {
	t.Helper()
	redis, err := dao.Open(t.Context(), dao.Config{EmbeddedAddr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	s := shelf{Redis: redis, recorder: witness.NewRecorder("r1", "r1-process", time.Now)}
	s.sent = &counter{reached: make(chan struct{})}
	if seen {
		redis.Lock.AddHook(s.recorder.Hook())
	}
	redis.Lock.AddHook(s.sent)
	return s
}

func (s shelf) options() lock.Options {
	return lock.Options{
		Key: lock.Key, TTL: time.Minute, RetryInterval: time.Millisecond, WaitTimeout: patience, Clock: lock.SystemClock{},
	}
}

// counter counts the commands that are sent.
type counter struct {
	n       atomic.Int64
	reached chan struct{} // closed when there were many
}

// many is more than a sale needs that does not poll.
const many = 20

func (c *counter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if c.n.Add(1) == many {
			close(c.reached)
		}
		return next(ctx, cmd)
	}
}

func (c *counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// sell does with the lock what a sale does.
func (s shelf) sell(t testing.TB, locker lock.Locker, id string, during func()) {
	t.Helper()
	ctx := s.recorder.Follow(t.Context(), "run", lock.Owner(id))
	s.recorder.Observe(ctx, service.Seen{Moment: service.Asks})
	lease, err := locker.Lock(ctx, lock.Owner(id))
	if err != nil {
		t.Fatal(err)
	}
	s.recorder.Observe(ctx, service.Seen{Moment: service.Obtains, Token: lease.Token()})
	during()
	s.recorder.Observe(ctx, service.Seen{Moment: service.Leaves})
	err = lease.Unlock(ctx)
	s.recorder.Observe(ctx, service.Seen{Moment: service.Released, Err: err})
	s.recorder.Observe(ctx, service.Seen{Moment: service.Ends, Err: err})
}

// watch collects what the recorder has noted, as a watcher over HTTP does.
func watch(t testing.TB, recorder *witness.Recorder, until func([]witness.Event) bool) []witness.Event {
	t.Helper()
	server := httptest.NewServer(recorder)
	defer server.Close()
	ctx, leave := context.WithTimeout(t.Context(), patience)
	defer leave()
	collected := witness.NewCollector()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	ended := make(chan error, 1)
	go func() {
		_, err := witness.Follow(ctx, client, server.URL, "", collected.Collect)
		ended <- err
	}()
	if err := collected.WaitUntil(ctx, until); err != nil {
		t.Fatalf("%v: %v", err, collected.Events())
	}
	leave()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the stream ended: %v", err)
	}
	return collected.Events()
}

// The reason of a failure travels with the event, whatever else the error tells.
func TestAFailureHasItsCode(t *testing.T) {
	recorder := witness.NewRecorder("r1", "a-process", time.Now)
	ctx := recorder.Follow(t.Context(), "run", lock.Owner("a"))
	recorder.Observe(ctx, service.Seen{Moment: service.Asks})
	recorder.Observe(ctx, service.Seen{Moment: service.Ends, Err: fmt.Errorf("GET: %w: OOM", lock.ErrRefused)})
	events := watch(t, recorder, func(events []witness.Event) bool { return len(events) == 2 })
	account := witness.NewAccount(witness.Limits{})
	for _, event := range events {
		account.Record(event)
	}
	if end := events[len(events)-1]; end.Code != "redis_refused" || account.Sales[0].Code != end.Code {
		t.Errorf("%+v ends %+v; want redis_refused", end, account.Sales[0])
	}
}

func has(kind witness.Kind, sale string) func([]witness.Event) bool {
	return func(events []witness.Event) bool {
		for _, event := range events {
			if event.Kind == kind && event.Sale == sale {
				return true
			}
		}
		return false
	}
}

// A sale's commands are known as the sale's, even v2's, which name no owner, with what they mean; and no command is sent more.
func TestRecorderNotesASale(t *testing.T) {
	s := open(t)
	s.sell(t, lockv2.New(s.Lock, s.options()), "one", func() {})
	unseen := opened(t, false)
	unseen.sell(t, lockv2.New(unseen.Lock, unseen.options()), "one", func() {})
	events := watch(t, s.recorder, has(witness.KindEnds, "r1#1"))
	var all []string
	for _, event := range events {
		text := string(event.Kind)
		if c := event.Command; c != nil {
			text = strings.Join([]string{c.Text, "->", c.Reply, string(c.Verb), string(c.Outcome), c.Holder}, " ")
		}
		all = append(all, event.Sale+" "+text)
	}
	want := []string{
		"r1#1 asks", "r1#1 SET distributedLock 1 ex 60 NX -> OK takes done r1#1", "r1#1 obtains", "r1#1 leaves",
		"r1#1 DEL distributedLock -> 1 removes done r1#1", "r1#1 released", "r1#1 ends",
	}
	if got := strings.Join(all, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("noted\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if with, without := s.sent.n.Load(), unseen.sent.n.Load(); with != without {
		t.Errorf("%d commands were sent, and %d without a recorder", with, without)
	}
}

// Of a waiter's attempts the first is noted, and how many there were.
func TestRecorderCountsPolls(t *testing.T) {
	s := open(t)
	locker := lockv2.New(s.Lock, s.options())
	waiting := make(chan struct{})
	s.sell(t, locker, "one", func() {
		go func() {
			defer close(waiting)
			s.sell(t, locker, "two", func() {})
		}()
		<-s.sent.reached
	})
	<-waiting
	events := watch(t, s.recorder, has(witness.KindEnds, "r1#2"))
	var refused, polls int
	var asked time.Time
	for _, event := range events {
		if event.Sale == "r1#2" && event.Command != nil {
			polls += event.Command.Polls
			if polled := event.Command.LastPoll; event.Command.Polls > 0 && (!polled.After(asked) || !polled.Before(event.Sent)) {
				t.Errorf("the last poll was at %v; want it between the first at %v and the next command at %v", polled, asked, event.Sent)
			}
			asked = event.Sent
			if event.Command.Outcome == witness.Refused {
				refused++
			}
		}
	}
	if refused != 1 || polls < many/2 {
		t.Errorf("%d refusals were noted, and %d polls counted; want one, and some %d", refused, polls, many)
	}
}

// A renewal has no sale's context, but names the owner.
func TestRecorderKnowsRenewals(t *testing.T) {
	s := open(t)
	opts := s.options()
	opts.TTL = 60 * time.Millisecond
	renewed := func(events []witness.Event) bool {
		for _, event := range events {
			if event.Command != nil && event.Command.Verb == witness.Renews && event.Sale == "r1#1" {
				return true
			}
		}
		return false
	}
	s.sell(t, lockv6.New(s.Lock, opts), "one", func() { watch(t, s.recorder, renewed) })
}

// A recorder forgets the oldest events, and says so. A watcher that comes back gets what it has not seen.
func TestRecorderIsBounded(t *testing.T) {
	recorder := witness.NewRecorder("r1", "a-process", time.Now)
	ctx := recorder.Follow(t.Context(), "run", lock.Owner("one"))
	const moments = 20_000
	for range moments {
		recorder.Observe(ctx, service.Seen{Moment: service.Asks})
	}
	recorder.Close()
	server := httptest.NewServer(recorder)
	defer server.Close()
	var events []witness.Event
	last, err := witness.Follow(t.Context(), server.Client(), server.URL, "", func(_ string, e witness.Event) { events = append(events, e) })
	if err != nil {
		t.Fatal(err)
	}
	if events[0].Kind != witness.KindGap || events[len(events)-1].ID != moments || len(events) > moments-1000 {
		t.Errorf("%d events, the first a %s, the last %d", len(events), events[0].Kind, events[len(events)-1].ID)
	}
	for from, want := range map[string]int{
		last: 0, "a-process:19990": 10, "another-process:19990": len(events), "another-process:7,a-process:19980": 20,
	} {
		n := 0
		_, err := witness.Follow(t.Context(), server.Client(), server.URL, from, func(string, witness.Event) { n++ })
		if err != nil || n != want {
			t.Errorf("from %s: %d events, %v; want %d", from, n, err, want)
		}
	}
}

// A recorder that repeats the stream of another serves what that one does, to whoever comes.
func TestRecorderRepeatsAnother(t *testing.T) {
	const moments = 20_000
	other, repeats := witness.NewRecorder("r1", "a-process", time.Now), witness.NewRecorder("r1", "", time.Now)
	ctx := other.Follow(t.Context(), "run", lock.Owner("one"))
	for range moments {
		other.Observe(ctx, service.Seen{Moment: service.Asks})
	}
	other.Close()
	served := func(recorder *witness.Recorder, seen string) string {
		answer, request := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/events", http.NoBody)
		request.Header.Set(sse.LastEventID, seen)
		recorder.ServeHTTP(answer, request)
		return answer.Body.String()
	}
	if err := repeats.Relay(sse.Event{ID: "of-a-former-process:1", Data: []byte("{}")}); err != nil {
		t.Error(err)
	}
	for event, err := range sse.Read(strings.NewReader(served(other, "")), 1<<20) {
		if err != nil || repeats.Relay(event) != nil {
			t.Fatalf("%s: %v", event.ID, err)
		}
	}
	repeats.Close()
	for _, seen := range []string{"", "a-process:19990", "another-process:19990", "another-process:7,a-process:7", "a-process:20000"} {
		if got, want := served(repeats, seen), served(other, seen); got != want {
			t.Errorf("after %q: %d bytes, %.100q; want %d, %.100q", seen, len(got), got, len(want), want)
		}
	}
	if err := repeats.Relay(sse.Event{ID: "7"}); err == nil {
		t.Error("an event of no process is taken")
	}
}

// BenchmarkRecorder says what a sale's command costs more while nobody watches.
func BenchmarkRecorder(b *testing.B) {
	recorder := witness.NewRecorder("r1", "a-process", time.Now)
	ctx := recorder.Follow(b.Context(), "run", lock.Owner("one"))
	cmd := redis.NewIntCmd(ctx, "del", lock.Key)
	hook := recorder.Hook().ProcessHook(func(context.Context, redis.Cmder) error { return nil })
	for b.Loop() {
		_ = hook(ctx, cmd)
	}
}

// Renewals of a process that fail are noted once, and counted: they are tried again all the time.
func TestRecorderCountsRenewalsThatFail(t *testing.T) {
	recorder := witness.NewRecorder("r1", "a-process", time.Now)
	renew := func(reply error) {
		cmd := redis.NewCmd(t.Context(), "eval", lua.CompareAndExtend, 1, lock.Key, lock.Owner("a-process:7"), 1000)
		_ = recorder.HookOfNode(2, 3).ProcessHook(func(context.Context, redis.Cmder) error { return reply })(t.Context(), cmd)
	}
	for range 5 {
		renew(io.EOF)
	}
	renew(nil)
	recorder.Close()
	server := httptest.NewServer(recorder)
	defer server.Close()
	var got []string
	_, err := witness.Follow(t.Context(), server.Client(), server.URL, "", func(_ string, e witness.Event) {
		got = append(got, fmt.Sprintf("%s on %d: %d polls before", e.Command.Holder, e.Node, e.Command.Polls))
	})
	if want := []string{"r1 on 2: 0 polls before", "r1 on 2: 4 polls before"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("noted %q, %v; want %q", got, err, want)
	}
}

// A write that is refused because its run is over is not refused for its token.
func TestRecorderKnowsRunsThatAreOver(t *testing.T) {
	recorder := witness.NewRecorder("r1", "a-process", time.Now)
	ctx := recorder.Follow(t.Context(), "run", lock.Owner("one"))
	for _, reply := range []int64{0, 1, 2} {
		cmd := redis.NewCmd(ctx, "eval", lua.Write, 5,
			dao.InventoryKey, dao.RunKey, "newest", "older", "fence", 199, 7, "run", "order", "{}", 9, 9)
		_ = recorder.Hook().ProcessHook(func(_ context.Context, cmd redis.Cmder) error {
			cmd.(*redis.Cmd).SetVal(reply)
			return nil
		})(ctx, cmd)
	}
	recorder.Close()
	server := httptest.NewServer(recorder)
	defer server.Close()
	var got []witness.Outcome
	_, err := witness.Follow(t.Context(), server.Client(), server.URL, "", func(_ string, e witness.Event) {
		got = append(got, e.Command.Outcome)
	})
	if want := []witness.Outcome{witness.Refused, witness.Done, witness.Over}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the outcomes are %q, %v; want %q", got, err, want)
	}
}
