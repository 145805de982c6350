// Package lockv5 is the fifth step of the evolution: the lock is reentrant.
//
// Adds: owner and count in a hash: nested calls.
// Costs: 2 scripts per sale, plus one per poll.
// Still broken: as from v2 on, work longer than the expiry: two holders.
package lockv5

import (
	"context"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
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
	reply, err := l.client.Eval(ctx, lua.Lock, []string{l.opts.Key}, owner, l.opts.TTL.Milliseconds()).Int()
	switch {
	case err != nil: // a lost reply may stay counted until the expiry: counting down might take an outer call's lock away
		return nil, rediserr.Classify(ctx, "EVAL lock.lua", err)
	case reply == lua.NotTaken:
		return nil, lock.ErrNotObtained
	}
	return lock.NewLease(ctx, l.opts.Clock, 0, func(ctx context.Context) error { return l.unlock(ctx, owner) }), nil
}
