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

// admit admits a sale, and returns its session.
func admit(t *testing.T, shop *Shop) *session {
	t.Helper()
	admitted, err := shop.admit()
	if err != nil {
		t.Fatal(err)
	}
	return admitted
}

// beat sends a heartbeat.
func beat(t *testing.T, shop *Shop) {
	t.Helper()
	if _, err := shop.beat(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// assertEvents checks the events since the last assertEvents.
func assertEvents(t *testing.T, events *[]string, want ...string) {
	t.Helper()
	if !slices.Equal(*events, want) {
		t.Fatalf("%q; want %q", strings.Join(*events, ", "), strings.Join(want, ", "))
	}
}

// All sales of a run share its lock. The lock is made for the first sale, and closed once: when another run has begun and the last sale of
// this one has ended.
func TestEachRunHasItsOwnLock(t *testing.T) {
	shop, ledger, events := newShopOfKeepingLocks(t)
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
	assertEvents(t, events, "make p")
	left, leave := context.WithCancel(t.Context())
	leave()
	shop.leave(left, first) // the lock is closed even if the buyer's context has ended
	assertEvents(t, events, "make p", "close p")
	if second := admit(t, shop); second == first || second.sale.Run.ID != "second" {
		t.Error("want another lock for the sales of the next run")
	}
	ledger.set(func(s *State) { s.Run = history.Run{} }) // Redis came back empty, so there is no run
	beat(t, shop)
	admit(t, shop)
	assertEvents(t, events, "make p", "close p", "make p")
	ledger.set(func(s *State) { s.Run = history.Run{ID: "third", Lock: "v42"} })
	beat(t, shop)
	shop.leave(t.Context(), shop.session)
	shop.leave(t.Context(), shop.session)
	if _, err := shop.admit(); err == nil || errors.Is(err, ErrRunChanging) {
		t.Errorf("a lock that this replica does not know was made: %v", err)
	}
}

// A lock whose Close failed is left to its expiry, and not closed again. While a lock is being closed, it is not closed a second time, and
// no sale gets it.
func TestLockIsClosedOnce(t *testing.T) {
	shop, ledger, events := newShopOfKeepingLocks(t)
	first := admit(t, shop)
	k, _ := first.sale.Locker.(*keepingLock)
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
	assertEvents(t, events, "make p", "close p")
}

// A replica admits no sale from the moment when it learns of a change. It reports that it is drained when its last sale has ended and the
// lock is closed.
func TestReplicaDrainsForChange(t *testing.T) {
	shop, ledger, events := newShopOfKeepingLocks(t)
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
	assertEvents(t, events, "make p", "close p")
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

// A replica without sales reports at once that it is drained for a change.
func TestDrainedReplicaSendsHeartbeatAtOnce(t *testing.T) {
	shop, ledger, _ := newShopOfKeepingLocks(t)
	ledger.set(func(s *State) { s.Change = "a change" })
	beat(t, shop)
	if sent := ledger.lastReplica(); sent.Drained != "a change" {
		t.Errorf("it told %+v", sent)
	}
}

// A replica whose heartbeat lies in the future is logged once, because the ledger forgets it with that heartbeat.
func TestFutureHeartbeatIsLogged(t *testing.T) {
	var log bytes.Buffer
	shop, ledger, _ := newShopOfKeepingLocks(t)
	shop.Log = slog.New(slog.NewTextHandler(&log, nil))
	beat(t, shop)
	ledger.set(func(s *State) { s.Future = []Replica{{Name: "r2"}} })
	beat(t, shop)
	if strings.Count(log.String(), "other=r2") != 1 {
		t.Errorf("it says %q; want r2 named once", log.String())
	}
}

// A replica that was silent for so long that others may count it as dead rereads the run before it admits a sale.
func TestReplicaWithoutHeartbeatRechecksRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop, ledger, _ := newShopOfKeepingLocks(t)
		admit(t, shop)
		_ = lock.Sleep(t.Context(), shop.Clock, ReplicaLifetime)
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

// The heartbeat of each second closes the lock of an ended run, even without sales.
func TestIdleReplicaClosesLockOfEndedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop, ledger, events := newShopOfKeepingLocks(t)
		shop.leave(t.Context(), admit(t, shop))
		ledger.set(func(s *State) { s.Run.ID = "second" })
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(beatInterval+time.Millisecond, stop)
		shop.SendHeartbeats(ctx)
		assertEvents(t, events, "make p", "close p")
	})
}

// Callers that need a heartbeat while one is in progress share the next one.
func TestConcurrentCallersShareHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop, ledger, _ := newShopOfKeepingLocks(t)
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
	shop, _, events := newShopOfKeepingLocks(t)
	shop.leave(t.Context(), admit(t, shop))
	if err := shop.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	assertEvents(t, events, "make p", "close p", "quit")
}

func TestLockIsClosedBeforeBarrierIsReleased(t *testing.T) {
	shop, _, events := newShopOfKeepingLocks(t)
	if _, err := shop.Sell(t.Context(), OrderRequest{ID: "1"}); err != nil {
		t.Fatal(err)
	}
	if err := shop.SetLock(t.Context(), "v1"); err != nil {
		t.Fatal(err)
	}
	assertEvents(t, events, "make p", "p locks", "p unlocks", "close p", "next run", "barrier opens")
}

// A change waits until each other replica that is alive has reported that it is drained for this change.
func TestChangeWaitsForOtherReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop, ledger, events := newShopOfKeepingLocks(t)
		ledger.set(func(s *State) {
			s.Others = map[string]Replica{"busy": {Admitted: 1}, "silent": {Drained: "another change"}}
		})
		changed := make(chan error)
		go func() { changed <- shop.SetLock(t.Context(), "v1") }()
		time.Sleep(time.Second)
		for _, next := range []map[string]Replica{
			{"busy": {}, "silent": {}},
			{"busy": {Drained: lock.Owner("next")}, "silent": {}},
			{"busy": {Drained: lock.Owner("next")}}, // the silent replica has expired
		} {
			assertEvents(t, events)
			ledger.set(func(s *State) { s.Others = next })
			time.Sleep(time.Second)
		}
		if err := <-changed; err != nil {
			t.Error(err)
		}
		assertEvents(t, events, "next run", "barrier opens")
	})
}

// An order that is in no ledger was not made if every replica that is alive has reported since that it has no request for it in flight.
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
				shop, ledger, _ := newShopOfKeepingLocks(t)
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
	shop, _, _ := newShopOfKeepingLocks(t)
	done := shop.inFlight.add("order")
	if _, err := shop.Order(t.Context(), "order"); !errors.Is(err, ErrInFlight) {
		t.Errorf("asked for here: %v; want ErrInFlight", err)
	}
	done()
	if _, err := shop.Order(t.Context(), "order"); !errors.Is(err, ErrNoOrder) {
		t.Errorf("and not any more: %v; want ErrNoOrder", err)
	}
}

// A run keeps its number of segments, whatever the configuration of a replica. A run without the number is refused with an error that names
// it.
func TestRunKeepsSegmentCount(t *testing.T) {
	shop, ledger, _ := newShopOfKeepingLocks(t)
	var keys []string
	shop.Strategies["segmented"] = strategy.Strategy{Update: strategy.Segmented, New: func(parts strategy.Parts) lock.Locker {
		keys = append(keys, parts.Key)
		return &keepingLock{events: &[]string{}}
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

// A sale that waits for another process's lock has overlapped with it. With nested calls it may have waited for its own lock, so it does
// not count.
func TestRefusalCountsAsOverlapWithoutNestedCalls(t *testing.T) {
	for nested, want := range []int64{2, 1} {
		shop, _, _ := newShopOfKeepingLocks(t)
		row := shop.Strategies["keeper"]
		var parts strategy.Parts
		row.New = func(p strategy.Parts) lock.Locker { parts = p; return &keepingLock{events: &[]string{}} }
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
