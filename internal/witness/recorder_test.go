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

// recordedRedis is an embedded Redis whose commands a recorder records.
type recordedRedis struct {
	*dao.Redis
	recorder *witness.Recorder
	counter  *commandCounter
}

// openRecorded opens an embedded Redis with a recorder.
func openRecorded(t testing.TB) recordedRedis { return openRedis(t, true) }

func openRedis(t testing.TB, isRecorded bool) recordedRedis {
	t.Helper()
	redis, err := dao.Open(t.Context(), dao.Config{EmbeddedAddr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	s := recordedRedis{Redis: redis, recorder: witness.NewRecorder("r1", "r1-process", time.Now)}
	s.counter = &commandCounter{manySent: make(chan struct{})}
	if isRecorded {
		redis.Lock.AddHook(s.recorder.Hook())
	}
	redis.Lock.AddHook(s.counter)
	return s
}

func (s recordedRedis) options() lock.Options {
	return lock.Options{
		Key: lock.Key, TTL: time.Minute, RetryInterval: time.Millisecond, WaitTimeout: patience, Clock: lock.SystemClock{},
	}
}

// commandCounter counts the commands that are sent.
type commandCounter struct {
	sent     atomic.Int64
	manySent chan struct{} // closed when pollingCommands were sent
}

// pollingCommands is a number of commands that only a polling sale reaches.
const pollingCommands = 20

func (c *commandCounter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *commandCounter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if c.sent.Add(1) == pollingCommands {
			close(c.manySent)
		}
		return next(ctx, cmd)
	}
}

func (c *commandCounter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// sell makes a sale under the lock, and calls during in the critical section.
func (s recordedRedis) sell(t testing.TB, locker lock.Locker, id string, during func()) {
	t.Helper()
	ctx := s.recorder.Follow(t.Context(), "run", lock.Owner(id))
	s.recorder.Observe(ctx, service.SaleEvent{Moment: service.Asks})
	lease, err := locker.Lock(ctx, lock.Owner(id))
	if err != nil {
		t.Fatal(err)
	}
	s.recorder.Observe(ctx, service.SaleEvent{Moment: service.Obtains, Token: lease.Token()})
	during()
	s.recorder.Observe(ctx, service.SaleEvent{Moment: service.Leaves})
	err = lease.Unlock(ctx)
	s.recorder.Observe(ctx, service.SaleEvent{Moment: service.Released, Err: err})
	s.recorder.Observe(ctx, service.SaleEvent{Moment: service.Ends, Err: err})
}

// collectEvents collects the recorder's events over HTTP until they satisfy a condition.
func collectEvents(t testing.TB, recorder *witness.Recorder, until func([]witness.Event) bool) []witness.Event {
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

// The end of a sale carries the code of its error, whatever else the error says.
func TestSaleEndCarriesErrorCode(t *testing.T) {
	recorder := witness.NewRecorder("r1", "a-process", time.Now)
	ctx := recorder.Follow(t.Context(), "run", lock.Owner("a"))
	recorder.Observe(ctx, service.SaleEvent{Moment: service.Asks})
	recorder.Observe(ctx, service.SaleEvent{Moment: service.Ends, Err: fmt.Errorf("GET: %w: OOM", lock.ErrRefused)})
	events := collectEvents(t, recorder, func(events []witness.Event) bool { return len(events) == 2 })
	account := witness.NewAccount(witness.Limits{})
	for _, event := range events {
		account.Record(event)
	}
	if end := events[len(events)-1]; end.Code != "redis_refused" || account.Sales[0].Code != end.Code {
		t.Errorf("got end %+v of sale %+v, want redis_refused", end, account.Sales[0])
	}
}

func hasEvent(kind witness.Kind, sale string) func([]witness.Event) bool {
	return func(events []witness.Event) bool {
		for _, event := range events {
			if event.Kind == kind && event.Sale == sale {
				return true
			}
		}
		return false
	}
}

// A sale's commands are recorded as the sale's, with their meanings; even those of v2, which name no owner. The recorder sends no
// commands.
func TestRecorderRecordsSaleWithoutExtraCommands(t *testing.T) {
	s := openRecorded(t)
	s.sell(t, lockv2.New(s.Lock, s.options()), "one", func() {})
	unrecorded := openRedis(t, false)
	unrecorded.sell(t, lockv2.New(unrecorded.Lock, unrecorded.options()), "one", func() {})
	events := collectEvents(t, s.recorder, hasEvent(witness.KindEnds, "r1#1"))
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
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if with, without := s.counter.sent.Load(), unrecorded.counter.sent.Load(); with != without {
		t.Errorf("got %d commands with a recorder, want %d as without", with, without)
	}
}

// Of a waiter's attempts, the first is recorded, and the others are counted.
func TestRecorderCountsPolls(t *testing.T) {
	s := openRecorded(t)
	locker := lockv2.New(s.Lock, s.options())
	waiting := make(chan struct{})
	s.sell(t, locker, "one", func() {
		go func() {
			defer close(waiting)
			s.sell(t, locker, "two", func() {})
		}()
		<-s.counter.manySent
	})
	<-waiting
	events := collectEvents(t, s.recorder, hasEvent(witness.KindEnds, "r1#2"))
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
	if refused != 1 || polls < pollingCommands/2 {
		t.Errorf("got %d refusals and %d polls, want 1 and some %d", refused, polls, pollingCommands)
	}
}

// A renewal does not have the sale's context, but names the owner.
func TestRecorderAttributesRenewals(t *testing.T) {
	s := openRecorded(t)
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
	s.sell(t, lockv6.New(s.Lock, opts), "one", func() { collectEvents(t, s.recorder, renewed) })
}

// A recorder drops the oldest events, and its stream has a gap. A returning watcher gets what it has not seen.
func TestRecorderDropsOldestEvents(t *testing.T) {
	recorder := witness.NewRecorder("r1", "a-process", time.Now)
	ctx := recorder.Follow(t.Context(), "run", lock.Owner("one"))
	const moments = 20_000
	for range moments {
		recorder.Observe(ctx, service.SaleEvent{Moment: service.Asks})
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

// A recorder that relays another's stream serves the same, whatever a watcher has seen.
func TestRelayServesSameStream(t *testing.T) {
	const moments = 20_000
	other, relay := witness.NewRecorder("r1", "a-process", time.Now), witness.NewRecorder("r1", "", time.Now)
	ctx := other.Follow(t.Context(), "run", lock.Owner("one"))
	for range moments {
		other.Observe(ctx, service.SaleEvent{Moment: service.Asks})
	}
	other.Close()
	served := func(recorder *witness.Recorder, seen string) string {
		answer, request := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/events", http.NoBody)
		request.Header.Set(sse.LastEventID, seen)
		recorder.ServeHTTP(answer, request)
		return answer.Body.String()
	}
	if err := relay.Relay(sse.Event{ID: "of-a-former-process:1", Data: []byte("{}")}); err != nil {
		t.Error(err)
	}
	for event, err := range sse.Read(strings.NewReader(served(other, "")), 1<<20) {
		if err != nil || relay.Relay(event) != nil {
			t.Fatalf("%s: %v", event.ID, err)
		}
	}
	relay.Close()
	for _, seen := range []string{"", "a-process:19990", "another-process:19990", "another-process:7,a-process:7", "a-process:20000"} {
		if got, want := served(relay, seen), served(other, seen); got != want {
			t.Errorf("after %q: %d bytes, %.100q; want %d, %.100q", seen, len(got), got, len(want), want)
		}
	}
	if err := relay.Relay(sse.Event{ID: "7"}); err == nil {
		t.Error("Relay took an event without a process")
	}
}

// BenchmarkRecorder measures what recording adds to a sale's command while nobody watches.
func BenchmarkRecorder(b *testing.B) {
	recorder := witness.NewRecorder("r1", "a-process", time.Now)
	ctx := recorder.Follow(b.Context(), "run", lock.Owner("one"))
	cmd := redis.NewIntCmd(ctx, "del", lock.Key)
	hook := recorder.Hook().ProcessHook(func(context.Context, redis.Cmder) error { return nil })
	for b.Loop() {
		_ = hook(ctx, cmd)
	}
}

// Failed renewals of a process are recorded once and counted, because they are retried all the time.
func TestRecorderCountsFailedRenewals(t *testing.T) {
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
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// A write that is refused because its run is over is not taken for a stale token.
func TestRecorderTellsOverFromRefused(t *testing.T) {
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
		t.Errorf("got outcomes %q, %v, want %q", got, err, want)
	}
}
