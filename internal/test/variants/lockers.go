package variants

import (
	"context"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/lock/strategy"
)

// ask makes one attempt. It gives what unlocks, or fails with lock.ErrNotObtained.
type ask func(ctx context.Context, owner string) (unlock, error)

// take takes the lock, with all the attempts that it needs.
type take func(ctx context.Context, owner string) (*lock.Lease, error)

// locker is a lock.Locker of two functions.
type locker struct{ lock, try take }

func (l locker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return l.lock(ctx, owner)
}
func (l locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	return l.try(ctx, owner)
}

// locks makes a strategy. What the function declares is the memory of a process.
func locks(of func(process) locker) strategy.Strategy {
	return strategy.Strategy{New: func(p strategy.Parts) lock.Locker {
		return of(process{p, p.Client, p.TTL.Milliseconds()})
	}}
}

// ofTake makes a strategy of a lock that waits in its own way.
func ofTake(of func(process) take) strategy.Strategy {
	return locks(func(p process) locker { return locker{of(p), of(p)} })
}

// polls makes a strategy of a lock that makes one attempt after the other.
func polls(of func(process) ask) strategy.Strategy {
	return locks(func(p process) locker {
		attempt := of(p)
		return polling(p, p.RetryInterval, func() ask { return attempt })
	})
}

// pollsEvery is polls with other pauses.
func pollsEvery(pause time.Duration, of func(process) ask) strategy.Strategy {
	return locks(func(p process) locker {
		attempt := of(p)
		return polling(p, pause, func() ask { return attempt })
	})
}

// pollsAnew is polls for a lock that remembers something of each call: what the inner function declares.
func pollsAnew(of func(process) func() ask) strategy.Strategy {
	return locks(func(p process) locker { return polling(p, p.RetryInterval, of(p)) })
}

func polling(p process, pause time.Duration, attempts func() ask) locker {
	lease := func(ctx context.Context, owner string, attempt ask) (*lock.Lease, error) {
		unlock, err := attempt(ctx, owner)
		if err != nil {
			return nil, err
		}
		return p.lease(ctx, unlock), nil
	}
	return locker{
		lock: func(ctx context.Context, owner string) (*lock.Lease, error) {
			attempt := attempts()
			return lock.PollAt(ctx, p.Options, func() time.Duration { return pause },
				func() (*lock.Lease, error) { return lease(ctx, owner, attempt) })
		},
		try: func(ctx context.Context, owner string) (*lock.Lease, error) { return lease(ctx, owner, attempts()) },
	}
}

// lease is one without a token.
func (p process) lease(ctx context.Context, unlock unlock) *lock.Lease {
	return lock.NewLease(ctx, p.Clock, 0, unlock)
}
