package evolution_test

import (
	"context"
	"errors"
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

// The sales of one process that wait: in line where the row says so, and each for itself elsewhere.

// inLine reports whether the sales of a process wait in the order in which they came. Go's channels have a queue, which is what local is.
func (w *world) inLine() bool {
	return w.strategy.Capabilities.InLine || w.strategy.Scope == strategy.Process
}

// settle returns once all that happens now in virtual time has happened.
func (*world) settle() { synctest.Wait() }

// waiters are sales that came one millisecond after the other, while another had the lock.
type waiters struct {
	served chan int // which has the lock, in order
	errs   chan error
	gone   sync.WaitGroup
}

func (w *world) line(t *testing.T, n int) *waiters {
	t.Helper()
	return w.lineUnder(t.Context(), t, n)
}

func (w *world) lineUnder(ctx context.Context, t *testing.T, n int) *waiters {
	t.Helper()
	s := &waiters{served: make(chan int, n), errs: make(chan error, n)}
	for i := range n {
		s.gone.Go(func() {
			lease, err := w.locker.Lock(ctx, lock.Owner(fmt.Sprintf("%p.%d", s, i)))
			if err != nil {
				s.errs <- err
				return
			}
			s.served <- i
			if err := lease.Unlock(t.Context()); err != nil {
				s.errs <- err
			}
		})
		w.pause(t, time.Millisecond)
	}
	return s
}

// end waits until all have been served or have failed, and gives the order of those that were served and the errors of the others.
func (s *waiters) end() (order []int, errs []error) {
	s.gone.Wait()
	close(s.served)
	close(s.errs)
	for i := range s.served {
		order = append(order, i)
	}
	for err := range s.errs {
		errs = append(errs, err)
	}
	return order, errs
}

// eachThatExcludes runs a test for every lock that keeps the sales of a process apart.
func eachThatExcludes(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	t.Parallel()
	for _, row := range evolution.Table() {
		if row.Scope == strategy.Nobody || row.Capabilities.Open || row.Update != strategy.ReadModifyWrite {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			onEmbedded(t, row, test)
		})
	}
}

func TestOrderOfTheSalesOfAProcess(t *testing.T) {
	eachThatExcludes(t, func(t *testing.T, w *world) {
		const n = 50
		held := w.must(t, "holder")
		line := w.line(t, n)
		if err := held.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		order, errs := line.end()
		inOrder := len(order) == n
		for i, got := range order {
			inOrder = inOrder && got == i
		}
		if inOrder != w.inLine() || len(errs) > 0 {
			t.Errorf("served in the order %v; in line: %t; %v", order, w.inLine(), errs)
		}
	})
}

// However many sales of a process wait for another process, where they are in line one of them asks Redis; elsewhere all do.
func TestOneSaleOfAProcessContends(t *testing.T) {
	eachInVirtualTime(t, func(t *testing.T, w *world) {
		w.use(func(p *strategy.Parts) { p.TTL = 2 * time.Second })
		other := w.process("other")
		asked := func(waiting int) int {
			held := must(t, other, "holder")
			line := w.line(t, waiting)
			before := w.faults.seen()
			w.pause(t, w.parts.TTL/2)
			n := w.faults.seen() - before
			if err := held.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
			if _, errs := line.end(); len(errs) > 0 {
				t.Error(errs)
			}
			return n
		}
		one, ten := asked(1), asked(10)
		t.Logf("commands in %v: %d of one waiter, %d of ten", w.parts.TTL/2, one, ten)
		if inLine := ten < 2*one; one == 0 || inLine != w.strategy.Capabilities.InLine || !inLine && ten < 9*one {
			t.Errorf("%d commands of one waiter, %d of ten", one, ten)
		}
		if quiet := one <= 5; quiet != w.strategy.Capabilities.HandsOver {
			t.Errorf("%d commands of one waiter in half an expiry; only where the lock is handed over it asks every quarter of that", one)
		}
	})
}

// A waiter that leaves makes no gap: the others are served, in the order in which they came where they are in line.
func TestWaitersThatLeave(t *testing.T) {
	eachThatExcludes(t, func(t *testing.T, w *world) {
		held := w.must(t, "holder")
		leaving, leave := context.WithCancel(t.Context())
		first := w.lineUnder(leaving, t, 3) // the first of them is the one that asks Redis
		second := w.line(t, 3)
		third := w.lineUnder(leaving, t, 3)
		leave()
		for _, line := range []*waiters{first, third} {
			order, errs := line.end()
			for _, err := range errs {
				if !errors.Is(err, lock.ErrCancelled) {
					t.Errorf("Lock of one that leaves: %v; want ErrCancelled", err)
				}
			}
			if len(order) > 0 || len(errs) != 3 {
				t.Errorf("%v that leave were served; %v", order, errs)
			}
		}
		if err := held.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		order, errs := second.end()
		if len(order) != 3 || len(errs) > 0 || w.inLine() && !slices.IsSorted(order) {
			t.Errorf("those that stay were served in the order %v; %v", order, errs)
		}
		if !w.inRedis() {
			return
		}
		if !w.gone(t) {
			t.Error("the lock is still there")
		}
	})
}

// If Redis fails one of the sales in line, it fails all of them, at once: each would only find that out by itself, after the one before.
func TestRedisFailsTheWaiters(t *testing.T) {
	eachInVirtualTime(t, func(t *testing.T, w *world) {
		const n = 10
		held := must(t, w.process("other"), "holder")
		line := w.line(t, n)
		w.faults.refuse()
		before := w.faults.seen()
		order, errs := line.end()
		w.faults.mend()
		asked := (w.faults.seen() - before) / len(w.keepers)
		for _, err := range errs {
			if !errors.Is(err, lock.ErrUnavailable) {
				t.Errorf("Lock: %v; want ErrUnavailable", err)
			}
		}
		if told := asked < n; len(errs) != n || len(order) > 0 || told != w.strategy.Capabilities.InLine {
			t.Errorf("%d waiters failed after %d commands, %v were served; in line, one is to tell the others", len(errs), asked, order)
		}
		if err := held.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
