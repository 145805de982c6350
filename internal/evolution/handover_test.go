package evolution_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/evolution"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// How the locks that are handed over share the turns between processes. A sale takes a millisecond of virtual time, in which
// whoever wants the next one has come to wait for it: so the turns are always the same.

// handsOver runs a test for every lock that is handed over from process to process in turn.
func handsOver(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	for _, name := range []string{"v7", "v8"} {
		row, err := evolution.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			onEmbedded(t, row, func(t *testing.T, w *world) {
				w.use(func(p *strategy.Parts) { p.HandOffLimit = 64 })
				test(t, w)
			})
		})
	}
}

// turns has so many buyers in each process, who ask again as soon as they have bought, and gives the processes in the order of
// so many sales. No time passes between two of them, in which the lock would be free, and each has a larger token than the one before.
func turns(t *testing.T, processes map[string]lock.Locker, buyers map[string]int, sales int) []string {
	t.Helper()
	var order []string // under the lock, as the next two
	var last int64
	began := time.Now()
	var working sync.WaitGroup
	for process, n := range buyers {
		for i := range n {
			buyer := lock.Owner(fmt.Sprint(process, i))
			working.Go(func() {
				for over := false; !over; {
					lease, err := processes[process].Lock(t.Context(), buyer)
					if err != nil {
						t.Error(err)
						return
					}
					if err := lock.Sleep(t.Context(), lock.SystemClock{}, time.Millisecond); err != nil {
						t.Error(err)
					}
					order = append(order, process)
					if token := lease.Token(); token <= last && token > 0 {
						t.Errorf("sale %d has token %d, after %d", len(order), token, last)
					}
					last = lease.Token()
					over = len(order) >= sales
					if err := lease.Unlock(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	working.Wait()
	if took := time.Since(began); took > time.Duration(len(order))*time.Millisecond {
		t.Errorf("%d sales of a millisecond took %v", len(order), took)
	}
	return order[:sales]
}

// One who waits in a process of its own gets its turn after three rounds of the others, and not much earlier, for it costs time;
// or after hand_off_limit.
func TestHandOverIsFair(t *testing.T) {
	for here, want := range map[int]int{1: 1, 2: 7, 5: 16, 15: 46, 40: 65} {
		t.Run(fmt.Sprint(here, " and one"), func(t *testing.T) {
			handsOver(t, func(t *testing.T, w *world) {
				processes := map[string]lock.Locker{"here": w.locker, "there": w.other()}
				longest, row := 0, 0
				for _, process := range turns(t, processes, map[string]int{"here": here, "there": 1}, 400) {
					row++
					if process == "there" {
						row = 0
					}
					longest = max(longest, row)
				}
				if longest != want {
					t.Errorf("%d sales here in a row while one waits there; want %d", longest, want)
				}
			})
		})
	}
}

// Where no other process waits, Redis is hardly asked.
func TestPassingAlongIsCheap(t *testing.T) {
	handsOver(t, func(t *testing.T, w *world) {
		turns(t, map[string]lock.Locker{"here": w.locker}, map[string]int{"here": 2}, 640)
		if asked := w.faults.seen(); asked > 15 {
			t.Errorf("%d commands for 640 sales of one process; want one for every 64", asked)
		}
	})
}

// Waiters of a process that all leave at once leave no place behind: the next process gets the lock at once.
func TestWhoLeavesCostsNoTurn(t *testing.T) {
	handsOver(t, func(t *testing.T, w *world) {
		held := w.must(t, "a")
		leaving, leave := context.WithCancel(t.Context())
		var gone sync.WaitGroup
		other := w.process("leaving")
		for i := range 3 {
			gone.Go(func() {
				if _, err := other.Lock(leaving, lock.Owner(fmt.Sprint(i))); !errors.Is(err, lock.ErrCancelled) {
					t.Errorf("Lock of one who leaves: %v", err)
				}
			})
		}
		synctest.Wait()
		var served sync.WaitGroup
		served.Go(func() {
			lease, err := w.process("patient").Lock(t.Context(), lock.Owner("b"))
			if err == nil {
				err = lease.Unlock(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		leave()
		gone.Wait()
		began := time.Now()
		if err := held.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		served.Wait()
		if waited := time.Since(began); waited > 0 || w.exists(t) {
			t.Errorf("the next one waited for %v; the lock is still there: %t", waited, w.exists(t))
		}
	})
}

// An unlock whose reply never came may come to Redis late, when the process has the lock once more. Then it is nobody's.
func TestALateReleaseIsNobodys(t *testing.T) {
	handsOver(t, func(t *testing.T, w *world) {
		a := w.must(t, "a")
		var late []any
		w.faults.set(func(cmd redis.Cmder) error {
			w.faults.set(nil, nil)
			late = cmd.Args()
			return io.ErrUnexpectedEOF
		}, nil)
		if err := a.Unlock(t.Context()); !errors.Is(err, lock.ErrOutcomeUnknown) {
			t.Errorf("Unlock: %v; want ErrOutcomeUnknown", err)
		}
		b := w.must(t, "b")
		if err := w.outside.Do(t.Context(), late...).Err(); err != nil || !w.exists(t) {
			t.Errorf("the late release: %v; the lock is there: %t", err, w.exists(t))
		}
		if err := b.Unlock(t.Context()); err != nil || w.exists(t) {
			t.Errorf("Unlock: %v; the lock is still there: %t", err, w.exists(t))
		}
	})
}
