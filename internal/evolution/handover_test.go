package evolution_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// How processes share a lock, and what becomes of it between them.

// A buyer that waits in a process of its own: where the lock is handed over, it gets its turn after three rounds of the others, and not
// much earlier, as a hand-over costs time; or after the hand-off limit, which is the only bound of a lock with a local queue. Where each
// buyer polls, one of few may wait for long.
func TestOtherProcessWaitsForBoundedTurns(t *testing.T) {
	t.Parallel()
	for here, want := range map[int]int{1: 1, 2: 7, 5: 16, 15: 46, 40: 65} {
		t.Run(fmt.Sprint(here, " and one"), func(t *testing.T) {
			eachInVirtualTime(t, func(t *testing.T, w *world) {
				caps, sales := w.strategy.Capabilities, 400
				if caps.HandsOver {
					sales = 200
				}
				if !caps.HandsOver && (here == 1 || !caps.HandsOn && here != 40) {
					return // whoever asks again at once, or polls, may win: only a crowd is sure to
				}
				processes := map[string]lock.Locker{"here": w.locker, "there": w.otherProcess()}
				order, took := runTurns(t, processes, map[string]int{"here": here, "there": 1}, sales)
				longest := longestStreak(order, "here")
				t.Logf("%d sales here in a row while one waits there; %v", longest, took)
				switch {
				case caps.HandsOver:
					if longest != want || took != time.Duration(sales)*time.Millisecond {
						t.Errorf("%d sales here in a row, and %v for %d of a millisecond; want %d, and no pause", longest, took, sales, want)
					}
				case caps.HandsOn:
					if longest > 65 { // it may as well be the one there that is alone and asks again at once
						t.Errorf("%d sales here in a row while one waits there; want 65 at most", longest)
					}
				case caps.InLine: // its next sale asks at once: nothing bounds how long another process waits
				case took == time.Duration(sales)*time.Millisecond: // the order is left to chance, the pauses are certain
					t.Errorf("%v for %d sales of a millisecond: is this lock polled for?", took, sales)
				}
			})
		})
	}
}

// Where no other process waits, Redis is hardly asked by a process that hands the lock on. Elsewhere, every sale asks.
func TestHandOffSavesCommands(t *testing.T) {
	eachInVirtualTime(t, func(t *testing.T, w *world) {
		sales := 640
		if !w.strategy.Capabilities.HandsOn {
			sales = 64
		}
		runTurns(t, map[string]lock.Locker{"here": w.locker}, map[string]int{"here": 2}, sales)
		asked := w.faults.seen() / len(w.lockServers)
		t.Logf("%d commands for %d sales of one process", asked, sales)
		switch caps := w.strategy.Capabilities; {
		case caps.HandsOver && !caps.Cached && asked > 2*sales/7+6:
			t.Errorf("%d commands for %d sales of one process; want two for every three rounds of two", asked, sales)
		case (caps.Cached || !caps.HandsOver) && caps.HandsOn && asked > 22:
			t.Errorf("%d commands for %d sales of one process; want two for every 64", asked, sales)
		case !caps.HandsOn && asked < 2*sales:
			t.Errorf("%d commands for %d sales of one process; this lock has no way to do with less than two for each", asked, sales)
		}
	})
}

// eachHandedOver runs a test for every lock that processes hand over.
func eachHandedOver(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	eachInVirtualTime(t, func(t *testing.T, w *world) {
		if w.strategy.Capabilities.HandsOver {
			test(t, w)
		}
	})
}

// A process without a waiter has no place in the queue: the next process gets the lock at once, whether the waiters have left, or Redis
// refused to hear of them any more.
func TestProcessWithoutWaitersLeavesQueue(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*world, func()){
		"cancelled": func(_ *world, cancel func()) { cancel() },
		"refused": func(w *world, _ func()) {
			w.faults.set(func(redis.Cmder) error { // the next command, and the others after it not
				w.faults.mend()
				return &net.OpError{Op: "dial", Err: errFault}
			}, nil)
			_ = lock.Sleep(context.Background(), w.parts.Clock, w.parts.TTL/4) // until it asks again
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachHandedOver(t, func(t *testing.T, w *world) {
				held := mustLock(t, w.newProcess("holding"), "a")
				leaving, leave := context.WithCancel(t.Context())
				defer leave()
				var gone sync.WaitGroup
				other := w.newProcess("leaving")
				for i := range 3 {
					gone.Go(func() {
						_, err := other.Lock(leaving, lock.Owner(fmt.Sprint(i)))
						if !errors.Is(err, lock.ErrCancelled) && !errors.Is(err, lock.ErrUnavailable) {
							t.Errorf("Lock of one that leaves: %v", err)
						}
					})
				}
				synctest.Wait()
				end(w, leave)
				gone.Wait()
				var served sync.WaitGroup
				served.Go(func() {
					lease, err := w.newProcess("patient").Lock(t.Context(), lock.Owner("b"))
					if err == nil {
						err = lease.Unlock(t.Context())
					}
					if err != nil {
						t.Error(err)
					}
				})
				synctest.Wait()
				began := time.Now()
				if err := held.Unlock(t.Context()); err != nil {
					t.Error(err)
				}
				served.Wait()
				if waited := time.Since(began); waited > 0 || !w.closeAndCheckFree(t) {
					t.Errorf("the next one waited for %v; the lock is still there: %t", waited, w.exists(t))
				}
			})
		})
	}
}

// An unlock without a reply may reach Redis late, when the process has taken the lock again. It must not remove that lock.
func TestLateReleaseDoesNotRemoveReacquiredLock(t *testing.T) {
	eachHandedOver(t, func(t *testing.T, w *world) {
		a := w.mustLock(t, "a")
		var late []any
		w.faults.set(func(cmd redis.Cmder) error {
			w.faults.mend()
			late = cmd.Args()
			return io.ErrUnexpectedEOF
		}, nil)
		if err := w.unlock(t, a); !errors.Is(err, lock.ErrOutcomeUnknown) {
			t.Errorf("Unlock: %v; want ErrOutcomeUnknown", err)
		}
		b := w.mustLock(t, "b")
		if err := w.otherClient.Do(t.Context(), late...).Err(); err != nil || !w.exists(t) {
			t.Errorf("the late release: %v; the lock is there: %t", err, w.exists(t))
		}
		if err := b.Unlock(t.Context()); err != nil || !w.closeAndCheckFree(t) {
			t.Errorf("Unlock: %v; the lock is still there: %t", err, w.exists(t))
		}
	})
}

// A message that is lost delays by a quarter of the expiry: the process asks again.
func TestLostHandOverMessageDelaysByQuarterOfExpiry(t *testing.T) {
	eachHandedOver(t, func(t *testing.T, w *world) {
		deaf := w.notifiers.open()
		held, waiting := w.mustLock(t, "a"), w.newProcessWith("waiting", deaf)
		served := make(chan *lock.Lease, 1)
		go func() {
			lease, err := waiting.Lock(t.Context(), lock.Owner("b"))
			if err != nil {
				t.Error(err)
			}
			served <- lease
		}()
		synctest.Wait()
		deaf.setDropping(true)
		began := time.Now()
		if err := held.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		lease := <-served
		if waited := time.Since(began); waited != w.parts.TTL/4 || deaf.countDropped() == 0 {
			t.Errorf("the next one waited for %v, %d messages were lost; want to wait a quarter of %v", waited, deaf.countDropped(), w.parts.TTL)
		}
		if err := lease.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
