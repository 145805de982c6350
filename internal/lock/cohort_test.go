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

// global is a global lock that writes down how it is called, and does what the test says.
type global struct {
	*lock.Cohort
	t     *testing.T
	calls []string // by the one that has the turn
	keep  bool     // Release keeps the lock for more sales
	fail  func(call string) error

	mu       sync.Mutex
	busy     bool // within a call
	renewals int
	renew    error
}

// newGlobal makes a cohort lock, in which no call but Renew may come during another.
func newGlobal(t *testing.T, rounds, limit int) *global {
	t.Helper()
	g := &global{t: t, fail: func(string) error { return nil }}
	g.Cohort = lock.NewCohort(lock.CohortOptions{
		Options: options, Process: "process", HandOffLimit: limit, Rand: func(int64) int64 { return 7 },
	}, rounds, g)
	return g
}

var options = lock.Options{
	Key: "key", TTL: 9 * time.Second, RetryInterval: 20 * time.Millisecond, WaitTimeout: time.Minute, Clock: lock.SystemClock{},
}

func (g *global) call(call string) error {
	g.mu.Lock()
	if g.busy {
		g.t.Errorf("%s within another call; after %v", call, g.calls)
	}
	g.busy = true
	g.mu.Unlock()
	_ = lock.Sleep(context.Background(), options.Clock, time.Millisecond) // others may come
	g.mu.Lock()
	g.busy = false
	g.mu.Unlock()
	g.calls = append(g.calls, call)
	return g.fail(call)
}

func (g *global) Acquire(context.Context) (lock.Grant, error) {
	grant, err := g.NewAttempt(), g.call("acquire")
	return grant.WithTokens(100, g.Tokens()), err
}

func (g *global) TryAcquire(context.Context) (lock.Grant, error) {
	grant, err := g.NewAttempt(), g.call("try")
	return grant.WithTokens(200, g.Tokens()), err
}

func (g *global) Renew(context.Context, lock.Grant) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.renewals++
	return g.renew
}

// renewed is how often Renew was called.
func (g *global) renewed() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.renewals
}

func (g *global) Release(_ context.Context, held lock.Grant, more bool) (lock.Grant, error) {
	call := fmt.Sprintf("release %d", held.Token)
	if more {
		call += " more"
	}
	if held.Sent.IsZero() {
		call += " lost"
	}
	if err := g.call(call); err != nil || !more || !g.keep {
		return lock.Grant{}, err
	}
	return g.NewAttempt().WithTokens(300, g.Tokens()), nil
}

func (g *global) Idle(context.Context) { _ = g.call("idle") }

// want fails the test if there were other calls since it was last asked.
func (g *global) want(calls ...string) {
	g.t.Helper()
	if !slices.Equal(g.calls, calls) {
		g.t.Errorf("calls of the global lock: %q; want %q", g.calls, calls)
	}
	g.calls = nil
}

// obtain locks for an owner.
func (g *global) obtain(owner string) *lock.Lease {
	g.t.Helper()
	lease, err := g.Lock(g.t.Context(), owner)
	if err != nil {
		g.t.Fatal(err)
	}
	return lease
}

// queue has n sales wait, which work for so long each, and gives what their tokens will be, in order.
func (g *global) queue(n int, work time.Duration) (wait func() []int64) {
	var all sync.WaitGroup
	var tokens []int64
	for i := range n {
		all.Go(func() {
			lease, err := g.Lock(g.t.Context(), fmt.Sprint("queued ", i))
			if err != nil {
				g.t.Error(err)
				return
			}
			tokens = append(tokens, lease.Token())
			_ = lock.Sleep(g.t.Context(), options.Clock, work)
			if err := lease.Unlock(g.t.Context()); err != nil {
				g.t.Error(err)
			}
		})
		synctest.Wait()
	}
	return func() []int64 { all.Wait(); return tokens }
}

// cohort runs a test in virtual time.
func cohort(t *testing.T, rounds, limit int, test func(*testing.T, *global)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newGlobal(t, rounds, limit)) })
}

func unlock(t *testing.T, lease *lock.Lease) {
	t.Helper()
	if err := lease.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCohortOfOneSale(t *testing.T) {
	cohort(t, 0, 4, func(t *testing.T, g *global) {
		outer := g.obtain("a")
		inner := g.obtain("a")
		if tried, err := g.TryLock(t.Context(), "a"); err != nil || tried.Unlock(t.Context()) != nil {
			t.Errorf("nested TryLock: %v", err)
		}
		if _, err := g.TryLock(t.Context(), "b"); !errors.Is(err, lock.ErrNotObtained) {
			t.Errorf("TryLock of a held lock: %v", err)
		}
		unlock(t, inner)
		g.want("acquire")
		if outer.Token() != 100 || inner.Token() != 100 {
			t.Errorf("tokens %d and %d; want the sale's", outer.Token(), inner.Token())
		}
		unlock(t, outer)
		g.want("release 100", "idle")
		if err := outer.Unlock(t.Context()); !errors.Is(err, lock.ErrNotOwner) {
			t.Errorf("second Unlock: %v", err)
		}
		tried, err := g.TryLock(t.Context(), "b")
		if err != nil || tried.Token() != 200 {
			t.Fatalf("TryLock of a free lock: %v", err)
		}
		unlock(t, tried)
		g.want("try", "release 200", "idle")
	})
}

// The sales that wait have the lock without a call, each with a token of its own, and with one renewal for all.
func TestCohortHandsOn(t *testing.T) {
	cohort(t, 0, 10, func(t *testing.T, g *global) {
		held := g.obtain("a")
		wait := g.queue(4, 6*time.Second/4)
		g.want("acquire")
		unlock(t, held)
		// a holding ends after a second, as another process may wait
		if tokens := wait(); !slices.Equal(tokens, []int64{101, 100, 100, 100}) {
			t.Errorf("tokens %v", tokens)
		}
		g.want("release 101 more", "acquire", "release 100 more", "acquire", "release 100 more", "acquire", "release 100", "idle")
	})
	cohort(t, 0, 10, func(t *testing.T, g *global) {
		held := g.obtain("a")
		wait := g.queue(4, 100*time.Millisecond)
		unlock(t, held)
		if tokens := wait(); !slices.Equal(tokens, []int64{101, 102, 103, 104}) {
			t.Errorf("tokens %v", tokens)
		}
		g.want("acquire", "release 104", "idle")
	})
}

func TestCohortAtTheHandOffLimit(t *testing.T) {
	for name, c := range map[string]struct {
		rounds, limit int
		keep          bool
		tokens        []int64
		calls         []string
	}{
		"released": {0, 2, false, []int64{101, 102, 100, 101, 102}, []string{"acquire", "release 102 more", "acquire", "release 102", "idle"}},
		"kept": {0, 2, true, []int64{101, 102, 301, 302, 301}, []string{
			"acquire", "release 102 more", "release 302 more", "release 301", "idle",
		}},
		"no limit": {0, 0, true, []int64{301, 301, 301, 301, 301}, []string{
			"acquire", "release 100 more", "release 301 more", "release 301 more", "release 301 more", "release 301 more", "release 301", "idle",
		}},
		// nobody waited when the lock was obtained first, so three sales may follow; then three waited
		"rounds": {3, 99, false, []int64{101, 102, 103, 100, 101}, []string{"acquire", "release 103 more", "acquire", "release 101", "idle"}},
	} {
		t.Run(name, func(t *testing.T) {
			cohort(t, c.rounds, c.limit, func(t *testing.T, g *global) {
				g.keep = c.keep
				held := g.obtain("a")
				wait := g.queue(5, time.Millisecond)
				unlock(t, held)
				if tokens := wait(); !slices.Equal(tokens, c.tokens) {
					t.Errorf("tokens %v; want %v", tokens, c.tokens)
				}
				g.want(c.calls...)
			})
		})
	}
}

// few is a global lock whose grants have few tokens left, as one has that was kept for a while.
type few struct{ *global }

func (f few) Acquire(ctx context.Context) (lock.Grant, error) {
	grant, err := f.global.Acquire(ctx)
	return grant.WithTokens(100, 2), err
}

func TestCohortUsesNoTokenThatItDoesNotHave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGlobal(t, 0, 4)
		g.Cohort = lock.NewCohort(lock.CohortOptions{
			Options: options, Process: "process", HandOffLimit: 4, Rand: func(int64) int64 { return 7 },
		}, 0, few{g})
		held := g.obtain("a")
		wait := g.queue(3, time.Millisecond)
		unlock(t, held)
		if tokens := wait(); !slices.Equal(tokens, []int64{101, 100, 101}) {
			t.Errorf("tokens %v; two were granted at a time", tokens)
		}
	})
}

// A waiter that times out or leaves makes no call, and the one that competes tells the global lock.
func TestCohortWaiters(t *testing.T) {
	cohort(t, 0, 4, func(t *testing.T, g *global) {
		held := g.obtain("a")
		ctx, cancel := context.WithCancel(t.Context())
		errs := make(chan error, 2)
		go func() {
			_, err := g.Lock(ctx, "b")
			errs <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-errs; !errors.Is(err, lock.ErrCancelled) {
			t.Errorf("Lock of one that leaves: %v", err)
		}
		if _, err := g.Lock(t.Context(), "c"); !errors.Is(err, lock.ErrTimeout) {
			t.Errorf("Lock of one that waits too long: %v", err)
		}
		unlock(t, held)
		g.want("acquire", "release 100", "idle")
	})
}

// If Redis fails the sale that competes, all that wait are told; if something else does, the next one tries.
func TestCohortWhoseGlobalLockFails(t *testing.T) {
	for _, c := range []struct {
		err  error
		told bool
	}{{lock.ErrUnavailable, true}, {lock.ErrOutcomeUnknown, true}, {lock.ErrTimeout, false}} {
		t.Run(c.err.Error(), func(t *testing.T) {
			cohort(t, 0, 4, func(t *testing.T, g *global) {
				held := g.obtain("a")
				g.fail = func(call string) error {
					if call == "acquire" {
						return c.err
					}
					return nil
				}
				errs := make(chan error, 3)
				for i := range cap(errs) {
					go func() {
						_, err := g.Lock(t.Context(), fmt.Sprint(i))
						errs <- err
					}()
				}
				synctest.Wait()
				held.Lose() // so that the next one competes
				unlock(t, held)
				for range cap(errs) {
					if err := <-errs; !errors.Is(err, c.err) {
						t.Errorf("Lock: %v", err)
					}
				}
				if c.told {
					g.want("acquire", "release 100 lost", "acquire", "idle")
				} else {
					g.want("acquire", "release 100 lost", "acquire", "acquire", "acquire", "idle")
				}
			})
		})
	}
}
