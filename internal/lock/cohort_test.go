package lock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/lock"
)

// global is a lock that processes compete for. It writes down how it is called, and does what the test says.
type global struct {
	*lock.Cohort
	t      *testing.T
	calls  []string // by the one that has the turn
	fail   func(call string) error
	extend error // what a renewal fails with
}

const handOffs = 4

func newGlobal(t *testing.T) *global {
	t.Helper()
	g := &global{t: t, fail: func(string) error { return nil }}
	g.Cohort = lock.NewCohort(options, func(context.Context) { g.calls = append(g.calls, "idle") })
	return g
}

var options = lock.Options{
	Key: "key", TTL: 9 * time.Second, RetryInterval: 20 * time.Millisecond, WaitTimeout: time.Minute, Clock: lock.SystemClock{},
}

// call takes a millisecond, so that others may come.
func (g *global) call(call string) error {
	_ = lock.Sleep(context.Background(), options.Clock, time.Millisecond)
	g.calls = append(g.calls, call)
	return g.fail(call)
}

// obtain gives a holding whose first token is 100.
func (g *global) obtain() (*lock.Holding, error) {
	sent := time.Now()
	if err := g.call("obtain"); err != nil {
		return nil, err
	}
	renewal := lock.StartRenewal(options, sent, func(context.Context) error { return g.extend })
	held := &lock.Holding{Renewal: renewal, Token: 100, HandOffs: handOffs}
	held.Release = func(context.Context) error {
		renewal.Stop()
		return g.call(fmt.Sprint("release ", held.Token))
	}
	return held, nil
}

func (g *global) lock(ctx context.Context, owner string) (*lock.Lease, error) {
	wait, stop := lock.WithTimeout(ctx, options.Clock, options.WaitTimeout, lock.ErrTimeout)
	defer stop()
	if err := g.Enter(wait, owner); err != nil {
		return nil, err
	}
	return g.Take(ctx, g.obtain)
}

func (g *global) must(owner string) *lock.Lease {
	g.t.Helper()
	lease, err := g.lock(g.t.Context(), owner)
	if err != nil {
		g.t.Fatal(err)
	}
	return lease
}

func (g *global) unlock(lease *lock.Lease) {
	g.t.Helper()
	if err := lease.Unlock(g.t.Context()); err != nil {
		g.t.Error(err)
	}
}

// want fails the test if there were other calls since it was last asked.
func (g *global) want(calls ...string) {
	g.t.Helper()
	if !slices.Equal(g.calls, calls) {
		g.t.Errorf("calls: %q; want %q", g.calls, calls)
	}
	g.calls = nil
}

// queue has n sales wait, which work for so long each, and gives what their tokens will be, in order.
func (g *global) queue(n int, work time.Duration) (wait func() []int64) {
	var all sync.WaitGroup
	var tokens []int64
	for i := range n {
		all.Go(func() {
			lease, err := g.lock(g.t.Context(), fmt.Sprint("queued ", i))
			if err != nil {
				g.t.Error(err)
				return
			}
			tokens = append(tokens, lease.Token())
			_ = lock.Sleep(g.t.Context(), options.Clock, work)
			g.unlock(lease)
		})
		synctest.Wait()
	}
	return func() []int64 { all.Wait(); return tokens }
}

// cohort runs a test in virtual time.
func cohort(t *testing.T, test func(*testing.T, *global)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newGlobal(t)) })
}

func TestCohortOfOneSale(t *testing.T) {
	cohort(t, func(t *testing.T, g *global) {
		outer := g.must("a")
		inner := g.must("a")
		if err := g.TryEnter(t.Context(), "b"); !errors.Is(err, lock.ErrNotObtained) {
			t.Errorf("TryEnter while another has the turn: %v", err)
		}
		g.unlock(inner)
		g.want("obtain")
		if outer.Token() != 100 || inner.Token() != 100 {
			t.Errorf("tokens %d and %d; want the sale's", outer.Token(), inner.Token())
		}
		g.unlock(outer)
		g.want("release 100", "idle")
		if err := outer.Unlock(t.Context()); !errors.Is(err, lock.ErrNotOwner) {
			t.Errorf("second Unlock: %v", err)
		}
	})
}

// The sales that wait have the lock without a call, each with a token of its own, a bounded number of times, and for a second at most:
// another process may wait.
func TestCohortHandsOn(t *testing.T) {
	for name, c := range map[string]struct {
		work   time.Duration
		tokens []int64
		calls  []string
	}{
		"often": {time.Millisecond, []int64{101, 102, 103, 104, 100, 101}, []string{"obtain", "release 104", "obtain", "release 101", "idle"}},
		"for long": {1500 * time.Millisecond, []int64{101, 100, 100, 100, 100, 100}, []string{
			"obtain", "release 101", "obtain", "release 100", "obtain", "release 100", "obtain", "release 100", "obtain", "release 100",
			"obtain", "release 100", "idle",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			cohort(t, func(t *testing.T, g *global) {
				held := g.must("a")
				wait := g.queue(6, c.work)
				g.unlock(held)
				if tokens := wait(); !slices.Equal(tokens, c.tokens) {
					t.Errorf("tokens %v; want %v", tokens, c.tokens)
				}
				g.want(c.calls...)
			})
		})
	}
}

// slow is a clock on which one that waits with a context of slowly's is late to know that its wait is over.
type slow struct{ lock.SystemClock }

type lateBy struct{}

func slowly(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, lateBy{}, d)
}

func (s slow) Wait(ctx context.Context, ch <-chan struct{}) error {
	d, late := ctx.Value(lateBy{}).(time.Duration)
	if late {
		defer func() { _ = lock.Sleep(context.Background(), s.SystemClock, d) }()
	}
	return s.SystemClock.Wait(ctx, ch)
}

// slowly makes a cohort lock on such a clock.
func (g *global) slowly() {
	opts := options
	opts.Clock = slow{}
	g.Cohort = lock.NewCohort(opts, func(context.Context) { g.calls = append(g.calls, "idle") })
}

// A lock that was handed on to a waiter that leaves at the same time is given back.
func TestCohortHandsOnToOneThatLeaves(t *testing.T) {
	cohort(t, func(t *testing.T, g *global) {
		g.slowly()
		held := g.must("a")
		ctx, cancel := context.WithCancel(slowly(t.Context(), time.Second))
		left := make(chan error, 1)
		go func() {
			_, err := g.lock(ctx, "b")
			left <- err
		}()
		synctest.Wait()
		cancel()
		synctest.Wait() // it does not know yet
		g.unlock(held)
		if err := <-left; !errors.Is(err, lock.ErrCancelled) {
			t.Errorf("Lock of one that leaves: %v", err)
		}
		g.want("obtain", "release 101", "idle")
		g.unlock(g.must("c"))
		g.want("obtain", "release 100", "idle")
	})
}

// A waiter that times out or leaves makes no call.
func TestCohortWaiters(t *testing.T) {
	cohort(t, func(t *testing.T, g *global) {
		held := g.must("a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := g.lock(ctx, "b"); !errors.Is(err, lock.ErrCancelled) {
			t.Errorf("Lock of one that leaves: %v", err)
		}
		if _, err := g.lock(t.Context(), "c"); !errors.Is(err, lock.ErrTimeout) {
			t.Errorf("Lock of one that waits too long: %v", err)
		}
		g.unlock(held)
		g.want("obtain", "release 100", "idle")
	})
}

// If Redis fails the sale that competes, all that wait are told; if something else does, the next one tries.
func TestCohortThatGetsNoLock(t *testing.T) {
	for err, calls := range map[error][]string{
		lock.ErrUnavailable:    {"obtain", "release 100", "obtain", "idle"},
		lock.ErrOutcomeUnknown: {"obtain", "release 100", "obtain", "idle"},
		lock.ErrTimeout:        {"obtain", "release 100", "obtain", "obtain", "obtain", "idle"},
	} {
		t.Run(err.Error(), func(t *testing.T) {
			cohort(t, func(t *testing.T, g *global) {
				held := g.must("a")
				g.fail = func(call string) error {
					if call == "obtain" {
						return err
					}
					return nil
				}
				errs := make(chan error, 3)
				for i := range cap(errs) {
					go func() {
						_, err := g.lock(t.Context(), fmt.Sprint(i))
						errs <- err
					}()
				}
				synctest.Wait()
				held.Lose() // so that the next one competes
				g.unlock(held)
				for range cap(errs) {
					if got := <-errs; !errors.Is(got, err) {
						t.Errorf("Lock: %v", got)
					}
				}
				synctest.Wait()
				g.want(calls...)
			})
		})
	}
}

// A lock that is lost cancels the work of its sale, and is not handed on.
func TestCohortThatLosesTheLock(t *testing.T) {
	cohort(t, func(t *testing.T, g *global) {
		g.extend = lock.ErrNotOwner
		held, nested := g.must("a"), g.must("a")
		wait := g.queue(1, 0)
		for _, lease := range []*lock.Lease{held, nested} {
			<-lease.Context().Done()
			if cause := context.Cause(lease.Context()); !errors.Is(cause, lock.ErrLost) {
				t.Errorf("the work was cancelled with %v", cause)
			}
		}
		if err := nested.Unlock(t.Context()); !errors.Is(err, lock.ErrExpired) {
			t.Errorf("nested Unlock: %v", err)
		}
		g.fail = func(call string) error {
			if call == "release 100" {
				g.fail = func(string) error { return nil }
				return lock.ErrNotOwner
			}
			return nil
		}
		if err := held.Unlock(t.Context()); !errors.Is(err, lock.ErrNotOwner) {
			t.Errorf("Unlock: %v; want what the lock says", err)
		}
		if tokens := wait(); !slices.Equal(tokens, []int64{100}) {
			t.Errorf("tokens %v; want a new holding's", tokens)
		}
		g.want("obtain", "release 100", "obtain", "release 100", "idle")
	})
}

// A lock that is lost between two sales is not the second one's.
func TestCohortThatLosesTheLockInBetween(t *testing.T) {
	cohort(t, func(t *testing.T, g *global) {
		g.slowly()
		g.extend = lock.ErrNotOwner
		held := g.must("a")
		token := make(chan int64, 1)
		go func() {
			lease, err := g.lock(slowly(t.Context(), options.TTL/2), "b")
			if err != nil {
				t.Error(err)
			}
			g.unlock(lease)
			token <- lease.Token()
		}()
		synctest.Wait()
		g.unlock(held)
		if got := <-token; got != 100 {
			t.Errorf("token %d; want a new holding's", got)
		}
		g.want("obtain", "obtain", "release 100", "idle")
	})
}

// An Unlock that had no effect may be tried again, while the turn is another's.
func TestCohortThatIsUnlockedAgain(t *testing.T) {
	cohort(t, func(t *testing.T, g *global) {
		first := g.must("a")
		g.fail = func(string) error { return lock.ErrUnavailable }
		if err := first.Unlock(t.Context()); !errors.Is(err, lock.ErrUnavailable) {
			t.Errorf("Unlock: %v", err)
		}
		g.fail = func(string) error { return nil }
		second := g.must("b")
		g.unlock(first)
		g.unlock(second)
		g.want("obtain", "release 100", "idle", "obtain", "release 100", "release 100", "idle")
		if err := first.Unlock(t.Context()); !errors.Is(err, lock.ErrNotOwner) {
			t.Errorf("Unlock of a lease that was released: %v", err)
		}
	})
}
