package evolution_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"lockstep/internal/evolution"
	"lockstep/internal/lock"
)

// How the locks that are handed over share the turns between processes. A sale takes a millisecond of virtual time, in which
// whoever wants the next one has come to wait for it: so the turns are always the same.

// handsOver runs a test for every lock that is handed over from process to process in turn.
func handsOver(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	for _, name := range []string{"v7", "v8"} {
		strategy, err := evolution.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			onEmbedded(t, strategy, func(t *testing.T, w *world) {
				w.use(func(o *lock.Options) { o.MaxPasses = 64 })
				test(t, w)
			})
		})
	}
}

// turns has so many buyers in each process, who ask again as soon as they have bought, and gives the processes in the order of
// so many sales.
func turns(t *testing.T, processes map[string]lock.Locker, buyers map[string]int, sales int) []string {
	t.Helper()
	var order []string // under the lock
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
					time.Sleep(time.Millisecond)
					order = append(order, process)
					over = len(order) >= sales
					if err := lease.Unlock(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	working.Wait()
	return order[:sales]
}

// One who waits in a process of its own gets its turn after three rounds of the others, and not much earlier, for it costs time;
// or after max_passes.
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
