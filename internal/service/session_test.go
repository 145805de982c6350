package service

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/service/history"
	"lockstep/internal/strategy"
)

func admit(t *testing.T, shop *Shop) *session {
	t.Helper()
	admitted, err := shop.admit()
	if err != nil {
		t.Fatal(err)
	}
	return admitted
}

func beat(t *testing.T, shop *Shop) {
	t.Helper()
	if _, err := shop.beat(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, events *[]string, want ...string) {
	t.Helper()
	if !slices.Equal(*events, want) {
		t.Fatalf("%q; want %q", strings.Join(*events, ", "), strings.Join(want, ", "))
	}
}

// All sales of a run share its lock. It is made when the first one comes, and closed once: when another run is on and its last sale has
// ended.
func TestEachRunHasItsOwnLock(t *testing.T) {
	shop, ledger, events := shopOfKeepers(t)
	first := admit(t, shop)
	if admit(t, shop) != first {
		t.Error("want one lock for the sales of a run")
	}
	shop.leave(t.Context(), first)
	shop.leave(t.Context(), first)
	if admit(t, shop) != first {
		t.Error("the lock of the run that is on is made anew though nobody used it for a moment")
	}
	ledger.set(func(s *State) { s.Run.ID = "second" })
	beat(t, shop)
	if _, err := shop.admit(); !errors.Is(err, ErrRunChanging) {
		t.Errorf("a sale of the first run is in flight, and one of the second is admitted: %v", err)
	}
	expect(t, events, "make p")
	left, leave := context.WithCancel(t.Context())
	leave()
	shop.leave(left, first) // a buyer who went away does not cut the closing off
	expect(t, events, "make p", "close p")
	if second := admit(t, shop); second == first || second.sale.Run.ID != "second" {
		t.Error("want another lock for the sales of the next run")
	}
	ledger.set(func(s *State) { s.Run = history.Run{} }) // redis came back empty: there is no run
	beat(t, shop)
	admit(t, shop)
	expect(t, events, "make p", "close p", "make p")
	ledger.set(func(s *State) { s.Run = history.Run{ID: "third", Lock: "v42"} })
	beat(t, shop)
	shop.leave(t.Context(), shop.session)
	shop.leave(t.Context(), shop.session)
	if _, err := shop.admit(); err == nil || errors.Is(err, ErrRunChanging) {
		t.Errorf("a lock that this replica does not know was made: %v", err)
	}
}

// A lock that could not be closed is left to its expiry, not closed again and again. While one is closed nobody closes it again, and no
// sale gets it.
func TestLockIsClosedOnce(t *testing.T) {
	shop, ledger, events := shopOfKeepers(t)
	first := admit(t, shop)
	k, _ := first.sale.Locker.(*keeper)
	k.fails = lock.ErrUnavailable
	k.during = func() {
		shop.closeSession(t.Context())
		if _, err := shop.admit(); !errors.Is(err, ErrRunChanging) {
			t.Errorf("admitted while the lock is closed: %v", err)
		}
	}
	shop.leave(t.Context(), first)
	ledger.set(func(s *State) { s.Run.ID = "second" })
	beat(t, shop)
	shop.closeSession(t.Context())
	expect(t, events, "make p", "close p")
}

// A replica admits no sale from when it hears of a change, and says that it has drained when the last one has ended and its lock is closed.
func TestReplicaDrainsForChange(t *testing.T) {
	shop, ledger, events := shopOfKeepers(t)
	sale := admit(t, shop)
	admit(t, shop)
	ledger.set(func(s *State) { s.Change = "a change" })
	beat(t, shop)
	if sent := ledger.lastReplica(); sent.Drained != "" || sent.Admitted != 2 || sent.Overlap != 2 || sent.Run != "first" {
		t.Errorf("with two sales in flight it told %+v", sent)
	}
	if _, err := shop.admit(); !errors.Is(err, ErrRunChanging) {
		t.Errorf("during a change a sale is admitted: %v", err)
	}
	shop.leave(t.Context(), sale)
	shop.leave(t.Context(), sale)
	expect(t, events, "make p", "close p")
	select {
	case <-shop.beatRequested:
	default:
		t.Error("it does not tell at once that it has drained")
	}
	beat(t, shop)
	if sent := ledger.lastReplica(); sent.Drained != "a change" || sent.Admitted != 0 {
		t.Errorf("drained it told %+v", sent)
	}
	if _, err := shop.admit(); !errors.Is(err, ErrRunChanging) {
		t.Errorf("before the end of the change a sale is admitted: %v", err)
	}
	ledger.set(func(s *State) { s.Change, s.Run.ID = "", "second" })
	beat(t, shop)
	if admit(t, shop).sale.Run.ID != "second" {
		t.Error("after the change the old run goes on")
	}
}

// A change that is heard of while no sale is in flight is answered in the same heartbeat's turn.
func TestDrainedReplicaSendsHeartbeatAtOnce(t *testing.T) {
	shop, ledger, _ := shopOfKeepers(t)
	ledger.set(func(s *State) { s.Change = "a change" })
	beat(t, shop)
	if sent := ledger.lastReplica(); sent.Drained != "a change" {
		t.Errorf("it told %+v", sent)
	}
}

// A replica that told a time from the future is named once: the ledger forgets it with that heartbeat.
func TestFutureHeartbeatIsLogged(t *testing.T) {
	var log bytes.Buffer
	shop, ledger, _ := shopOfKeepers(t)
	shop.Log = slog.New(slog.NewTextHandler(&log, nil))
	beat(t, shop)
	ledger.set(func(s *State) { s.Future = []Replica{{Name: "r2"}} })
	beat(t, shop)
	if strings.Count(log.String(), "other=r2") != 1 {
		t.Errorf("it says %q; want r2 named once", log.String())
	}
}

// A replica that was silent for so long that the others may count it as dead asks before it admits a sale.
func TestReplicaWithoutHeartbeatRechecksRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop, ledger, _ := shopOfKeepers(t)
		admit(t, shop)
		_ = lock.Sleep(t.Context(), shop.Clock, Lifetime)
		if _, err := shop.admit(); !errors.Is(err, ErrRunChanged) {
			t.Errorf("it admits: %v; want ErrRunChanged", err)
		}
		shop.leave(t.Context(), shop.session)
		ledger.set(func(s *State) { s.Run.ID = "second" })
		if receipt, err := shop.Sell(t.Context(), OrderRequest{ID: "1"}); err != nil || receipt.RunID != "second" {
			t.Errorf("%+v, %v; want a sale in the run that is on by now", receipt, err)
		}
	})
}

// A heartbeat comes every second, whether there are sales or not.
func TestIdleReplicaClosesLockOfEndedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop, ledger, events := shopOfKeepers(t)
		shop.leave(t.Context(), admit(t, shop))
		ledger.set(func(s *State) { s.Run.ID = "second" })
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(beatInterval+time.Millisecond, stop)
		shop.Live(ctx)
		expect(t, events, "make p", "close p")
	})
}

// Whoever wants a heartbeat while one is under way shares the next one.
func TestConcurrentCallersShareHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop, ledger, _ := shopOfKeepers(t)
		before := len(ledger.beats)
		ledger.during = func() { time.Sleep(time.Second) }
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { beat(t, shop) })
		}
		all.Wait()
		if n := len(ledger.beats) - before; n > 2 {
			t.Errorf("%d heartbeats; want one, and one for those who came meanwhile", n)
		}
	})
}

func TestShopCloseClosesLock(t *testing.T) {
	shop, _, events := shopOfKeepers(t)
	shop.leave(t.Context(), admit(t, shop))
	if err := shop.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect(t, events, "make p", "close p", "quit")
}

func TestLockIsClosedBeforeBarrierIsReleased(t *testing.T) {
	shop, _, events := shopOfKeepers(t)
	if _, err := shop.Sell(t.Context(), OrderRequest{ID: "1"}); err != nil {
		t.Fatal(err)
	}
	if err := shop.SetLock(t.Context(), "v1"); err != nil {
		t.Fatal(err)
	}
	expect(t, events, "make p", "p locks", "p unlocks", "close p", "next run", "barrier opens")
}

// A change waits for each replica that lives, and for its word about this change.
func TestChangeWaitsForOtherReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop, ledger, events := shopOfKeepers(t)
		ledger.set(func(s *State) {
			s.Others = map[string]Replica{"busy": {Admitted: 1}, "silent": {Drained: "another change"}}
		})
		changed := make(chan error)
		go func() { changed <- shop.SetLock(t.Context(), "v1") }()
		time.Sleep(time.Second)
		for _, next := range []map[string]Replica{
			{"busy": {}, "silent": {}},
			{"busy": {Drained: lock.Owner("next")}, "silent": {}},
			{"busy": {Drained: lock.Owner("next")}}, // the silent one is forgotten
		} {
			expect(t, events)
			ledger.set(func(s *State) { s.Others = next })
			time.Sleep(time.Second)
		}
		if err := <-changed; err != nil {
			t.Error(err)
		}
		expect(t, events, "next run", "barrier opens")
	})
}

// An order that no ledger has is not made if every replica that lives has told since that it is not asked for it.
func TestOrderMayBeInFlightElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration
		tells Replica
		want  error
	}{
		"it is going on": {time.Millisecond, Replica{Sales: []string{"order"}}, ErrInFlight},
		"it is not":      {time.Millisecond, Replica{Sales: []string{"another"}}, ErrNoOrder},
		"nobody says so": {time.Hour, Replica{}, ErrInFlight},
		"it was before":  {0, Replica{Sales: []string{"order"}}, ErrInFlight},
		"a second later": {beatInterval, Replica{}, ErrNoOrder},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shop, ledger, _ := shopOfKeepers(t)
				ledger.set(func(s *State) { s.Others = map[string]Replica{"other": {LastBeat: time.Now()}} })
				c.tells.LastBeat = time.Now().Add(time.Millisecond)
				timer := time.AfterFunc(c.after, func() {
					ledger.set(func(s *State) { s.Others = map[string]Replica{"other": c.tells} })
				})
				defer timer.Stop()
				if _, err := shop.Order(t.Context(), "order"); !errors.Is(err, c.want) {
					t.Errorf("%v; want %v", err, c.want)
				}
			})
		})
	}
	shop, _, _ := shopOfKeepers(t)
	done := shop.inFlight.add("order")
	if _, err := shop.Order(t.Context(), "order"); !errors.Is(err, ErrInFlight) {
		t.Errorf("asked for here: %v; want ErrInFlight", err)
	}
	done()
	if _, err := shop.Order(t.Context(), "order"); !errors.Is(err, ErrNoOrder) {
		t.Errorf("and not any more: %v; want ErrNoOrder", err)
	}
}

// A run keeps its number of segments, whatever a replica is configured with. One that does not say it is refused by name.
func TestRunKeepsSegmentCount(t *testing.T) {
	shop, ledger, _ := shopOfKeepers(t)
	var keys []string
	shop.Strategies["segmented"] = strategy.Strategy{Update: strategy.Segmented, New: func(parts strategy.Parts) lock.Locker {
		keys = append(keys, parts.Key)
		return &keeper{events: &[]string{}}
	}}
	shop.Parts.Key = "lock"
	shop.setSettings(history.Settings{WaitTimeout: time.Minute, Segments: 8})
	ledger.set(func(s *State) { s.Run = history.Run{ID: "theirs", Lock: "segmented", Segments: 3} })
	beat(t, shop)
	if sale := admit(t, shop).sale; len(sale.Segments) != 3 || strings.Join(keys, " ") != "lock:1 lock:2 lock:3" {
		t.Errorf("%d segments, with the keys %v", len(sale.Segments), keys)
	}
	shop.leave(t.Context(), shop.session)
	ledger.set(func(s *State) { s.Run = history.Run{ID: "old", Lock: "segmented"} })
	beat(t, shop)
	if _, err := shop.admit(); !errors.Is(err, ErrBadData) {
		t.Errorf("a run without a number: %v", err)
	}
	ledger.set(func(s *State) { s.Run = history.Run{ID: "v11", Lock: "v11"} })
	beat(t, shop)
	for name, want := range map[string]int{"segmented": 8, "v11": 0} {
		if err := shop.SetLock(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if shop.lastRun().Lock != name || shop.lastRun().Segments != want {
			t.Errorf("a run of our own: %+v; want %d segments", shop.lastRun(), want)
		}
	}
}

// A sale that another process's lock keeps waiting has met it. A nested call may have met the lock of its own sale.
func TestRefusalCountsAsOverlapWithoutNestedCalls(t *testing.T) {
	for nested, want := range []int64{2, 1} {
		shop, _, _ := shopOfKeepers(t)
		row := shop.Strategies["keeper"]
		var parts strategy.Parts
		row.New = func(p strategy.Parts) lock.Locker { parts = p; return &keeper{events: &[]string{}} }
		for name := range shop.Strategies {
			shop.Strategies[name] = row
		}
		shop.setSettings(history.Settings{WaitTimeout: time.Minute, Nested: nested})
		sale := admit(t, shop).sale
		if parts.Refused != nil {
			parts.Refused()
		}
		if got := sale.overlap(); got != want {
			t.Errorf("with %d nested calls, %d sales overlap; want %d", nested, got, want)
		}
	}
}
