// Package lockv2 is the second step of the evolution: the lock expires.
//
// Adds: an expiry, in the same command.
// Costs: as v1; an expiry to choose.
// Still broken: work longer than the expiry: two holders, and the first deletes the second's lock.
package lockv2

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
	err := l.client.SetArgs(ctx, l.opts.Key, 1, redis.SetArgs{Mode: "NX", TTL: l.opts.TTL}).Err()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, lock.ErrNotObtained
	case err != nil: // a lost reply leaves the lock behind until it expires
		return nil, rediserr.Classify(ctx, "SET NX EX", err)
	}
	return lock.NewLease(ctx, l.opts.Clock, 0, func(ctx context.Context) error { return l.unlock(ctx, owner) }), nil
}
