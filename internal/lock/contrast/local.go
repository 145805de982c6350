package contrast

import (
	"context"

	"lockstep/internal/lock"
)

// Local is a queue inside one process, as the Node write-up's promise queue is.
//
// Adds: first come, first served, without Redis.
// Costs: no command.
// Still broken: right with one replica, wrong with two.
type Local struct {
	opts lock.Options
	turn chan struct{} // holds one token while the lock is free; Go serves its receivers in order
}

// NewLocal returns an empty queue. All sales that are to exclude each other must share it.
func NewLocal(opts lock.Options) *Local {
	l := &Local{opts: opts, turn: make(chan struct{}, 1)}
	l.turn <- struct{}{}
	return l
}

// Lock waits in the queue; see lock.Locker.
func (l *Local) Lock(ctx context.Context, _ string) (*lock.Lease, error) {
	wait, stop := lock.WithTimeout(ctx, l.opts.Clock, l.opts.WaitTimeout, lock.ErrTimeout)
	defer stop()
	if wait.Err() != nil {
		return nil, lock.WaitError(wait, l.opts.WaitTimeout)
	}
	if l.opts.Clock.Wait(wait, l.turn) != nil {
		return nil, lock.WaitError(wait, l.opts.WaitTimeout)
	}
	return l.lease(ctx), nil
}

// TryLock does not queue; see lock.Locker.
func (l *Local) TryLock(ctx context.Context, _ string) (*lock.Lease, error) {
	select {
	case <-l.turn:
		return l.lease(ctx), nil
	default:
		return nil, lock.ErrNotObtained
	}
}

// lease returns the lease of the sale that has the token.
func (l *Local) lease(ctx context.Context) *lock.Lease {
	return lock.NewLease(ctx, l.opts.Clock, 0, func(context.Context) error {
		l.turn <- struct{}{}
		return nil
	})
}
