package variants

import (
	"context"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// attemptFunc tries to lock once. It returns the function that releases the lock, or lock.ErrNotObtained.
type attemptFunc func(ctx context.Context, owner string) (releaseFunc, error)

// acquireFunc locks, with as many attempts as necessary.
type acquireFunc func(ctx context.Context, owner string) (*lock.Lease, error)

// locker is a lock.Locker that consists of two functions.
type locker struct{ lock, try acquireFunc }

// Lock implements lock.Locker.
func (l locker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return l.lock(ctx, owner)
}

// TryLock implements lock.Locker.
func (l locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	return l.try(ctx, owner)
}

// fromLocker returns the strategy of a locker. newLocker is called once for each process.
func fromLocker(newLocker func(process) lock.Locker) strategy.Strategy {
	return strategy.Strategy{New: func(p strategy.Parts) lock.Locker {
		return newLocker(process{Parts: p, client: p.Client, ttl: p.TTL.Milliseconds()})
	}}
}

// fromAcquire returns the strategy of a lock that waits in its own way.
func fromAcquire(newAcquire func(process) acquireFunc) strategy.Strategy {
	return fromLocker(func(p process) lock.Locker {
		acquire := newAcquire(p)
		return locker{acquire, acquire}
	})
}

// fromAttempt returns the strategy of a lock that repeats an attempt.
func fromAttempt(newAttempt func(process) attemptFunc) strategy.Strategy {
	return fromLocker(func(p process) lock.Locker {
		once := newAttempt(p)
		return locker{
			lock: func(ctx context.Context, owner string) (*lock.Lease, error) { return p.poll(ctx, owner, once) },
			try:  func(ctx context.Context, owner string) (*lock.Lease, error) { return p.try(ctx, owner, once) },
		}
	})
}

// fromFuncs returns the strategy of a lock that repeats obtain, and releases with release.
func fromFuncs(
	obtain func(p process, ctx context.Context, owner string) error, release func(p process, owner string) releaseFunc,
) strategy.Strategy {
	return fromAttempt(func(p process) attemptFunc {
		return func(ctx context.Context, owner string) (releaseFunc, error) {
			return release(p, owner), obtain(p, ctx, owner)
		}
	})
}

// fromScripts is like fromFuncs, with scripts for obtainByScript and releaseByScript.
func fromScripts(obtain, release string) strategy.Strategy {
	return fromFuncs(
		func(p process, ctx context.Context, owner string) error { return p.obtainByScript(ctx, obtain, owner) },
		func(p process, owner string) releaseFunc { return p.releaseByScript(release, owner) },
	)
}

// try makes one attempt.
func (p process) try(ctx context.Context, owner string, once attemptFunc) (*lock.Lease, error) {
	release, err := once(ctx, owner)
	return p.leaseUnless(ctx, err, release)
}

// poll repeats an attempt, with the pauses of the options.
func (p process) poll(ctx context.Context, owner string, once attemptFunc) (*lock.Lease, error) {
	return p.pollAt(ctx, owner, func() time.Duration { return p.RetryInterval }, once)
}

// pollAt repeats an attempt. pause returns the length of each pause.
func (p process) pollAt(ctx context.Context, owner string, pause func() time.Duration, once attemptFunc) (*lock.Lease, error) {
	return lock.PollAt(ctx, p.Options, pause, func() (*lock.Lease, error) { return p.try(ctx, owner, once) })
}

// pollUntil calls ask until it returns true.
func (p process) pollUntil(ctx context.Context, ask func() (bool, error)) error {
	_, err := lock.Poll(ctx, p.Options, func() (struct{}, error) { return struct{}{}, obtained(ask()) })
	return err
}

// leaseUnless returns a lease without a token, or err if it is not nil.
func (p process) leaseUnless(ctx context.Context, err error, release releaseFunc) (*lock.Lease, error) {
	if err != nil {
		return nil, err
	}
	return lock.NewLease(ctx, p.Clock, 0, release), nil
}
