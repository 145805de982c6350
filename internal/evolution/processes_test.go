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

// Several processes on one lock, in virtual time. During the millisecond of a sale all other buyers have begun to wait, so that the order
// of the sales is always the same.

// eachInVirtualTime runs a test for every lock in Redis with mutual exclusion.
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

// runTurns runs buyers in each process, which lock again as soon as they have bought. It returns the processes in the order of the first
// sales, and how long these took.
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
					order = append(order, process) // guarded by the lock
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

// longestStreak returns the largest number of successive sales of a process.
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
