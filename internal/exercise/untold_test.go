package exercise_test

import (
	"context"
	"strings"
	"testing"

	s18 "lockstep/exercises/18-untold/solution"
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
	"lockstep/internal/verdict"
)

// timedLock is the solution of exercise 18 with another context for its leases.
type timedLock struct {
	lock.Locker

	opts  lock.Options
	cause error // cause of the end of the context
	leaks bool  // whether Unlock leaves the timer running
}

// Lock implements lock.Locker.
func (l timedLock) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return lock.Poll(ctx, l.opts, func() (*lock.Lease, error) { return l.TryLock(ctx, owner) })
}

// TryLock implements lock.Locker.
func (l timedLock) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	work, stop := lock.WithTimeout(ctx, l.opts.Clock, l.opts.TTL, l.cause)
	lease, err := l.Locker.TryLock(ctx, owner)
	if err != nil {
		stop()
		return nil, err
	}
	return lock.NewLease(work, l.opts.Clock, 0, func(ctx context.Context) error {
		if !l.leaks {
			defer stop()
		}
		return lease.Unlock(ctx)
	}), nil
}

// Exercise 18 names the cause of a lease's context if it is not ErrLost, and reports a leaked timer as a timer and not as a goroutine.
func TestUntoldNamesOtherCauseAndTimer(t *testing.T) {
	e := findExercise(t, "untold")
	for _, c := range []struct {
		name string
		lock timedLock
		in   language.Language
		says string
	}{
		{"expired lock", timedLock{cause: lock.ErrExpired}, language.English, `ended with the cause "the lock was gone already: `},
		{"cancelled context", timedLock{cause: context.Canceled}, language.Chinese, "它的 context 结束了，但原因是“context canceled”，不是 lock.ErrLost"},
		{"timer left", timedLock{cause: lock.ErrLost, leaks: true}, language.English, "a timer that it set is pending or running"},
		{"correct lock", timedLock{cause: lock.ErrLost}, language.English, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := e.Explore(t.Context(), strategy.Strategy{New: func(p strategy.Parts) lock.Locker {
				timed := c.lock
				timed.Locker, timed.opts = s18.New(p), p.Options
				return timed
			}}, c.in)
			isDone := o.State == verdict.Done
			if isDone != (c.says == "") || !strings.Contains(o.Says, c.says) || !strings.Contains(o.Diagram, c.says) {
				t.Errorf("got %s, %q; want %q", o.State, o.Says, c.says)
			}
		})
	}
}
