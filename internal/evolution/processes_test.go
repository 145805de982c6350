package evolution_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"lockstep/internal/evolution"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// Several processes on one lock, in virtual time. A sale takes a millisecond, in which whoever wants the next one has come to wait for it:
// so the turns are always the same.

// eachInVirtualTime runs a test for every lock in Redis that somebody can be kept out by.
func eachInVirtualTime(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	t.Parallel()
	for _, row := range evolution.Table() {
		if row.Scope != strategy.Everybody || row.Capabilities.Open || row.Update != strategy.ReadModifyWrite {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			onEmbeddedServer(t, row, func(t *testing.T, w *world) {
				w.rebuild(func(p *strategy.Parts) { p.HandOffLimit = 64 })
				test(t, w)
			})
		})
	}
}

// runTurns has so many buyers in each process, which ask again as soon as they have bought, and gives the processes in the order of
// so many sales, and how long they took.
func runTurns(t *testing.T, processes map[string]lock.Locker, buyers map[string]int, sales int) (order []string, took time.Duration) {
	t.Helper()
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
					order = append(order, process) // under the lock
					over = len(order) >= sales
					if err := lease.Unlock(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	working.Wait()
	return order[:sales], time.Since(began) - time.Duration(len(order)-sales)*time.Millisecond
}

// longestStreak is how many sales one process had while the other waited.
func longestStreak(order []string, process string) (longest int) {
	row := 0
	for _, p := range order {
		row++
		if p != process {
			row = 0
		}
		longest = max(longest, row)
	}
	return longest
}
