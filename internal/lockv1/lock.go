// Package lockv1 is the first step of the evolution: a key that can be set only while it does not exist.
//
// Adds: a key that can be set only while it does not exist; waiters poll every 20 ms.
// Costs: 2 commands per sale, plus one per poll.
// Still broken: a holder that dies blocks everybody forever.
package lockv1

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
)

// Locker is the lock. Its whole state is in Redis.
type Locker struct {
	client redis.Cmdable
	opts   lock.Options
}

// New returns the lock with the key opts.Key.
func New(client redis.Cmdable, opts lock.Options) *Locker {
	return &Locker{client: client, opts: opts}
}

// Lock polls until the lock is ours; see lock.Locker.
func (l *Locker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return lock.Poll(ctx, l.opts, func() (*lock.Lease, error) { return l.TryLock(ctx, owner) })
}

// TryLock makes one attempt; see lock.Locker.
func (l *Locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	err := l.client.SetArgs(ctx, l.opts.Key, 1, redis.SetArgs{Mode: "NX"}).Err()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, lock.ErrNotObtained
	case err != nil: // a lost reply leaves the lock behind: its value does not say whose it is
		return nil, rediserr.Classify(ctx, "SET NX", err)
	}
	return lock.NewLease(ctx, l.opts.Clock, 0, func(ctx context.Context) error { return l.unlock(ctx, owner) }), nil
}
