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

// Tests of handing a lock from one process to another.

// One buyer waits in a process of its own. A lock that is handed over serves it after three rounds of the other process, and not much
// earlier, because a hand-over takes time. With a local queue only the hand-off limit bounds its wait, and with polling nothing does.
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
					return // the outcome depends on who polls first, unless there are many buyers
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
					if longest > 65 { // it can be fewer, if the single buyer asks again in time
						t.Errorf("%d sales here in a row while one waits there; want 65 at most", longest)
					}
				case caps.InLine: // the next sale asks at once, so nothing bounds the wait of another process
				case took == time.Duration(sales)*time.Millisecond: // polling leaves the order to chance, but always costs pauses
					t.Errorf("%v for %d sales of a millisecond: is this lock polled for?", took, sales)
				}
			})
		})
	}
}

// A process that hands the lock on to its own sales needs few commands while no other process waits. With other locks each sale needs two.
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

// eachHandedOver runs a test for every lock that one process hands over to another.
func eachHandedOver(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	eachInVirtualTime(t, func(t *testing.T, w *world) {
		if w.strategy.Capabilities.HandsOver {
			test(t, w)
		}
	})
}

// A process whose waiters have left, or could not reach Redis, does not delay the next process in the queue.
func TestProcessWithoutWaitersLeavesQueue(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*world, func()){
		"cancelled": func(_ *world, cancel func()) { cancel() },
		"refused": func(w *world, _ func()) {
			w.faults.set(func(redis.Cmder) error { // fails only the next command
				w.faults.mend()
				return &net.OpError{Op: "dial", Err: errFault}
			}, nil)
			_ = lock.Sleep(context.Background(), w.parts.Clock, w.parts.TTL/4) // the process repeats its request after that time
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

// A release that got no reply may reach Redis after the process has locked again. It must not remove that lock.
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

// If the message of a hand-over is lost, the process asks again after a quarter of the expiry.
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
