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

// fakeLock is the lock between processes, faked, with its cohort. It records the calls, and fails as the test sets.
type fakeLock struct {
	*lock.Cohort
	t      *testing.T
	calls  []string // calls so far; only the owner that has the turn adds to it
	fail   func(call string) error
	extend error // error of a renewal; nil: none
}

const handOffs = 4

func newFakeLock(t *testing.T) *fakeLock {
	t.Helper()
	g := &fakeLock{t: t, fail: func(string) error { return nil }}
	g.Cohort = lock.NewCohort(options, func(context.Context) { g.calls = append(g.calls, "idle") })
	return g
}

var options = lock.Options{
	Key: "key", TTL: 9 * time.Second, RetryInterval: 20 * time.Millisecond, WaitTimeout: time.Minute, Clock: lock.SystemClock{},
}

// call records a call. It takes a millisecond, so that others may come in between.
func (g *fakeLock) call(call string) error {
	_ = lock.Sleep(context.Background(), options.Clock, time.Millisecond)
	g.calls = append(g.calls, call)
	return g.fail(call)
}

// obtain returns a holding whose first token is 100.
func (g *fakeLock) obtain() (*lock.Holding, error) {
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

func (g *fakeLock) lock(ctx context.Context, owner string) (*lock.Lease, error) {
	wait, stop := lock.WithTimeout(ctx, options.Clock, options.WaitTimeout, lock.ErrTimeout)
	defer stop()
	if err := g.Enter(wait, owner); err != nil {
		return nil, err
	}
	return g.Take(ctx, g.obtain)
}

func (g *fakeLock) must(owner string) *lock.Lease {
	g.t.Helper()
	lease, err := g.lock(g.t.Context(), owner)
	if err != nil {
		g.t.Fatal(err)
	}
	return lease
}

func (g *fakeLock) unlock(lease *lock.Lease) {
	g.t.Helper()
	if err := lease.Unlock(g.t.Context()); err != nil {
		g.t.Error(err)
	}
}

// assertCalls checks the calls since the last assertCalls.
func (g *fakeLock) assertCalls(calls ...string) {
	g.t.Helper()
	if !slices.Equal(g.calls, calls) {
		g.t.Errorf("calls: %q; want %q", g.calls, calls)
	}
	g.calls = nil
}

// startSales starts n sales that wait for the lock and then work. wait returns their tokens, in the order in which they had the lock.
func (g *fakeLock) startSales(n int, work time.Duration) (wait func() []int64) {
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

// testInVirtualTime runs a test of a cohort in virtual time.
func testInVirtualTime(t *testing.T, test func(*testing.T, *fakeLock)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newFakeLock(t)) })
}

// Nested calls of a sale share its holding and its token; the last Unlock releases it.
func TestNestedCallSharesHolding(t *testing.T) {
	testInVirtualTime(t, func(t *testing.T, g *fakeLock) {
		outer := g.must("a")
		inner := g.must("a")
		if err := g.TryEnter(t.Context(), "b"); !errors.Is(err, lock.ErrNotObtained) {
			t.Errorf("TryEnter while another has the turn: %v", err)
		}
		g.unlock(inner)
		g.assertCalls("obtain")
		if outer.Token() != 100 || inner.Token() != 100 {
			t.Errorf("tokens %d and %d; want 100 for both", outer.Token(), inner.Token())
		}
		g.unlock(outer)
		g.assertCalls("release 100", "idle")
		if err := outer.Unlock(t.Context()); !errors.Is(err, lock.ErrNotOwner) {
			t.Errorf("second Unlock: %v", err)
		}
	})
}

// Waiting sales get the lock without a call, each with a token of its own, but only HandOffs times and for a second at most, because
// another process may wait.
func TestCohortHandsOnAtMostHandOffs(t *testing.T) {
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
			testInVirtualTime(t, func(t *testing.T, g *fakeLock) {
				held := g.must("a")
				wait := g.startSales(6, c.work)
				g.unlock(held)
				if tokens := wait(); !slices.Equal(tokens, c.tokens) {
					t.Errorf("tokens %v; want %v", tokens, c.tokens)
				}
				g.assertCalls(c.calls...)
			})
		})
	}
}

// slowClock is a clock whose Wait returns late, if its context comes from withDelay.
type slowClock struct{ lock.SystemClock }

type delayKey struct{}

// withDelay returns a context with which slowClock.Wait returns d too late.
func withDelay(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, delayKey{}, d)
}

func (s slowClock) Wait(ctx context.Context, ch <-chan struct{}) error {
	d, late := ctx.Value(delayKey{}).(time.Duration)
	if late {
		defer func() { _ = lock.Sleep(context.Background(), s.SystemClock, d) }()
	}
	return s.SystemClock.Wait(ctx, ch)
}

// useSlowClock replaces the cohort by one with a slowClock.
func (g *fakeLock) useSlowClock() {
	opts := options
	opts.Clock = slowClock{}
	g.Cohort = lock.NewCohort(opts, func(context.Context) { g.calls = append(g.calls, "idle") })
}

// A lock that was handed on to a waiter that leaves at the same time is released.
func TestLockHandedToLeavingWaiterIsReleased(t *testing.T) {
	testInVirtualTime(t, func(t *testing.T, g *fakeLock) {
		g.useSlowClock()
		held := g.must("a")
		ctx, cancel := context.WithCancel(withDelay(t.Context(), time.Second))
		left := make(chan error, 1)
		go func() {
			_, err := g.lock(ctx, "b")
			left <- err
		}()
		synctest.Wait()
		cancel()
		synctest.Wait() // b does not know yet that its wait is over
		g.unlock(held)
		if err := <-left; !errors.Is(err, lock.ErrCancelled) {
			t.Errorf("Lock of a waiter that leaves: %v; want ErrCancelled", err)
		}
		g.assertCalls("obtain", "release 101", "idle")
		g.unlock(g.must("c"))
		g.assertCalls("obtain", "release 100", "idle")
	})
}

// A waiter that times out or leaves makes no call.
func TestWaiterThatGivesUpMakesNoCall(t *testing.T) {
	testInVirtualTime(t, func(t *testing.T, g *fakeLock) {
		held := g.must("a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := g.lock(ctx, "b"); !errors.Is(err, lock.ErrCancelled) {
			t.Errorf("Lock of a waiter that leaves: %v; want ErrCancelled", err)
		}
		if _, err := g.lock(t.Context(), "c"); !errors.Is(err, lock.ErrTimeout) {
			t.Errorf("Lock of a waiter that waits too long: %v; want ErrTimeout", err)
		}
		g.unlock(held)
		g.assertCalls("obtain", "release 100", "idle")
	})
}

// If the competing sale fails because of Redis, all waiters get its error. After any other error the next one tries.
func TestRedisFailureIsReturnedToAllWaiters(t *testing.T) {
	for err, calls := range map[error][]string{
		lock.ErrUnavailable:    {"obtain", "release 100", "obtain", "idle"},
		lock.ErrOutcomeUnknown: {"obtain", "release 100", "obtain", "idle"},
		lock.ErrTimeout:        {"obtain", "release 100", "obtain", "obtain", "obtain", "idle"},
	} {
		t.Run(err.Error(), func(t *testing.T) {
			testInVirtualTime(t, func(t *testing.T, g *fakeLock) {
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
				held.Lose() // so that the next sale has to call obtain
				g.unlock(held)
				for range cap(errs) {
					if got := <-errs; !errors.Is(got, err) {
						t.Errorf("Lock: %v", got)
					}
				}
				synctest.Wait()
				g.assertCalls(calls...)
			})
		})
	}
}

// A lost lock cancels the work of its sale, and is not handed on.
func TestLostLockIsNotHandedOn(t *testing.T) {
	testInVirtualTime(t, func(t *testing.T, g *fakeLock) {
		g.extend = lock.ErrNotOwner
		held, nested := g.must("a"), g.must("a")
		wait := g.startSales(1, 0)
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
		g.assertCalls("obtain", "release 100", "obtain", "release 100", "idle")
	})
}

// If the lock is lost between two sales, the second sale obtains it anew.
func TestLockLostBetweenSalesIsObtainedAnew(t *testing.T) {
	testInVirtualTime(t, func(t *testing.T, g *fakeLock) {
		g.useSlowClock()
		g.extend = lock.ErrNotOwner
		held := g.must("a")
		token := make(chan int64, 1)
		go func() {
			lease, err := g.lock(withDelay(t.Context(), options.TTL/2), "b")
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
		g.assertCalls("obtain", "obtain", "release 100", "idle")
	})
}

// An Unlock that had no effect can be repeated, even while another owner has the turn.
func TestCohortUnlockCanBeRetriedAfterFailure(t *testing.T) {
	testInVirtualTime(t, func(t *testing.T, g *fakeLock) {
		first := g.must("a")
		g.fail = func(string) error { return lock.ErrUnavailable }
		if err := first.Unlock(t.Context()); !errors.Is(err, lock.ErrUnavailable) {
			t.Errorf("Unlock: %v", err)
		}
		g.fail = func(string) error { return nil }
		second := g.must("b")
		g.unlock(first)
		g.unlock(second)
		g.assertCalls("obtain", "release 100", "idle", "obtain", "release 100", "release 100", "idle")
		if err := first.Unlock(t.Context()); !errors.Is(err, lock.ErrNotOwner) {
			t.Errorf("Unlock of a lease that was released: %v", err)
		}
	})
}
