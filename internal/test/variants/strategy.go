package variants

import (
	"context"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// attemptFunc asks for the lock once. It returns what unlocks it, or fails with lock.ErrNotObtained.
type attemptFunc func(ctx context.Context, owner string) (releaseFunc, error)

// acquireFunc obtains the lock with all the attempts that it needs.
type acquireFunc func(ctx context.Context, owner string) (*lock.Lease, error)

// locker is a lock.Locker of two functions.
type locker struct{ lock, try acquireFunc }

func (l locker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return l.lock(ctx, owner)
}
func (l locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	return l.try(ctx, owner)
}

// fromLocker makes a strategy of a locker. What the function declares is the memory of a process.
func fromLocker(newLocker func(process) lock.Locker) strategy.Strategy {
	return strategy.Strategy{New: func(p strategy.Parts) lock.Locker {
		return newLocker(process{Parts: p, client: p.Client, ttl: p.TTL.Milliseconds()})
	}}
}

// fromAcquire makes a strategy of a lock that waits in its own way.
func fromAcquire(newAcquire func(process) acquireFunc) strategy.Strategy {
	return fromLocker(func(p process) lock.Locker {
		acquire := newAcquire(p)
		return locker{acquire, acquire}
	})
}

// fromAttempt makes a strategy of a lock that repeats an attempt.
func fromAttempt(newAttempt func(process) attemptFunc) strategy.Strategy {
	return fromLocker(func(p process) lock.Locker {
		once := newAttempt(p)
		return locker{
			lock: func(ctx context.Context, owner string) (*lock.Lease, error) { return p.poll(ctx, owner, once) },
			try:  func(ctx context.Context, owner string) (*lock.Lease, error) { return p.try(ctx, owner, once) },
		}
	})
}

// fromSteps makes a strategy of how to obtain a lock, and how to release it.
func fromSteps(
	obtain func(p process, ctx context.Context, owner string) error, release func(p process, owner string) releaseFunc,
) strategy.Strategy {
	return fromAttempt(func(p process) attemptFunc {
		return func(ctx context.Context, owner string) (releaseFunc, error) {
			return release(p, owner), obtain(p, ctx, owner)
		}
	})
}

// scripted is fromSteps of two scripts, for process.obtain and process.script.
func fromScripts(obtain, release string) strategy.Strategy {
	return fromSteps(
		func(p process, ctx context.Context, owner string) error { return p.obtain(ctx, obtain, owner) },
		func(p process, owner string) releaseFunc { return p.script(release, owner) },
	)
}

func (p process) try(ctx context.Context, owner string, once attemptFunc) (*lock.Lease, error) {
	release, err := once(ctx, owner)
	return p.leaseUnless(ctx, err, release)
}

// poll repeats an attempt.
func (p process) poll(ctx context.Context, owner string, once attemptFunc) (*lock.Lease, error) {
	return p.pollAt(ctx, owner, func() time.Duration { return p.RetryInterval }, once)
}

func (p process) pollAt(ctx context.Context, owner string, pause func() time.Duration, once attemptFunc) (*lock.Lease, error) {
	return lock.PollAt(ctx, p.Options, pause, func() (*lock.Lease, error) { return p.try(ctx, owner, once) })
}

// await asks again and again, until the answer is yes.
func (p process) await(ctx context.Context, ask func() (bool, error)) error {
	_, err := lock.Poll(ctx, p.Options, func() (struct{}, error) { return struct{}{}, obtained(ask()) })
	return err
}

// leaseUnless returns a lease without a token, unless there is an error.
func (p process) leaseUnless(ctx context.Context, err error, release releaseFunc) (*lock.Lease, error) {
	if err != nil {
		return nil, err
	}
	return lock.NewLease(ctx, p.Clock, 0, release), nil
}
