package lock_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/lock"
)

// One renewal is for all sales of a holding. A holding that is lost cancels the work, and is not handed on.
func TestCohortThatLosesTheLock(t *testing.T) {
	cohort(t, 0, 4, func(t *testing.T, g *global) {
		held := g.obtain("a")
		nested := g.obtain("a")
		_ = lock.Sleep(t.Context(), options.Clock, options.TTL*5/6)
		if n := g.renewed(); n != 2 || held.Context().Err() != nil {
			t.Errorf("%d renewals in most of an expiry; want one every third", n)
		}
		g.mu.Lock()
		g.renew = lock.ErrNotOwner
		g.mu.Unlock()
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
			if call == "release 100 lost" {
				return lock.ErrNotOwner
			}
			return nil
		}
		if err := held.Unlock(t.Context()); !errors.Is(err, lock.ErrNotOwner) {
			t.Errorf("Unlock: %v; want what the global lock says", err)
		}
		if tokens := wait(); !slices.Equal(tokens, []int64{100}) {
			t.Errorf("tokens %v; want a new grant's", tokens)
		}
		g.want("acquire", "release 100 lost", "acquire", "release 100", "idle")
		renewals := g.renewed()
		_ = lock.Sleep(t.Context(), options.Clock, options.TTL)
		if g.renewed() != renewals {
			t.Error("the lock is renewed after its last sale")
		}
	})
}

// slow is a clock on which one that waits with a context of slowly's is late to know that its wait is over.
type slow struct{ lock.SystemClock }

type lateBy struct{}

func slowly(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, lateBy{}, d)
}

func (s slow) Wait(ctx context.Context, ch <-chan struct{}) error {
	err := s.SystemClock.Wait(ctx, ch)
	if d, late := ctx.Value(lateBy{}).(time.Duration); late {
		_ = lock.Sleep(context.Background(), s.SystemClock, d)
	}
	return err
}

// A holding that is lost between two sales is not the second one's.
func TestCohortThatLosesTheLockInBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGlobal(t, 0, 4)
		opts := options
		opts.Clock = slow{}
		g.Cohort = lock.NewCohort(lock.CohortOptions{
			Options: opts, Process: "process", HandOffLimit: 4, Rand: func(int64) int64 { return 7 },
		}, 0, g)
		g.renew = lock.ErrNotOwner
		held := g.obtain("a")
		token := make(chan int64, 1)
		go func() {
			lease, err := g.Lock(slowly(t.Context(), options.TTL/2), "b")
			if err != nil {
				t.Error(err)
			}
			unlock(t, lease)
			token <- lease.Token()
		}()
		synctest.Wait()
		unlock(t, held)
		if got := <-token; got != 100 {
			t.Errorf("token %d; want a new grant's", got)
		}
		g.want("acquire", "acquire", "release 100", "idle")
	})
}

// An Unlock that had no effect may be tried again, in its turn; what it gives back is not relied on any more.
func TestCohortThatIsUnlockedAgain(t *testing.T) {
	cohort(t, 0, 4, func(t *testing.T, g *global) {
		first := g.obtain("a")
		g.fail = func(string) error { return lock.ErrUnavailable }
		if err := first.Unlock(t.Context()); !errors.Is(err, lock.ErrUnavailable) {
			t.Errorf("Unlock: %v", err)
		}
		g.fail = func(string) error { return nil }
		second := g.obtain("b")
		wait := g.queue(1, 0)
		g.want("acquire", "release 100", "idle", "acquire")
		again := make(chan error, 1)
		go func() { again <- first.Unlock(t.Context()) }()
		synctest.Wait()
		last := g.queue(1, 0)
		unlock(t, second)
		if err := <-again; err != nil {
			t.Errorf("Unlock, tried again: %v", err)
		}
		if tokens := append(wait(), last()...); !slices.Equal(tokens, []int64{101, 103}) { // its turn costs a token
			t.Errorf("tokens %v", tokens)
		}
		g.want("release 100 lost", "release 103", "idle")
		if err := first.Unlock(t.Context()); !errors.Is(err, lock.ErrNotOwner) {
			t.Errorf("Unlock of a lease that was released: %v", err)
		}
	})
}
