package evolution_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/evolution"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// Tests of the queue inside a process.

// isQueued reports whether the sales of a process are served in the order in which they came. local is a channel, which has a queue.
func (w *world) isQueued() bool {
	return w.strategy.Capabilities.InLine || w.strategy.Scope == strategy.Process
}

// wait waits until all goroutines are blocked; see synctest.Wait.
func (*world) wait() { synctest.Wait() }

// eachExclusive runs a test for every lock that excludes the sales of one process from each other.
func eachExclusive(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	t.Parallel()
	for _, row := range evolution.Table() {
		if row.Scope == strategy.Nobody || row.Capabilities.Open || row.Update != strategy.ReadModifyWrite {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			onEmbeddedServer(t, row, test)
		})
	}
}

func TestSalesOfProcessAreServedInOrder(t *testing.T) {
	eachExclusive(t, func(t *testing.T, w *world) {
		const n = 50
		held := w.mustLock(t, "holder")
		var waiting sync.WaitGroup
		var order []int // guarded by the lock
		for i := range n {
			waiting.Go(func() {
				lease, err := w.locker.Lock(t.Context(), lock.Owner(fmt.Sprint(i)))
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, i)
				if err := lease.Unlock(t.Context()); err != nil {
					t.Error(err)
				}
			})
			w.pause(t, time.Millisecond)
		}
		if err := held.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		waiting.Wait()
		if inOrder := len(order) == n && slices.IsSorted(order); inOrder != w.isQueued() {
			t.Errorf("served in the order %v; in line: %t", order, w.isQueued())
		}
	})
}
