// Package lockv6 is the sixth step of the evolution: the lock is renewed while the work runs.
//
// Adds: renewal while the work runs; losing the lock cancels the work.
// Costs: as v5; a goroutine per lock, a script every third of the expiry.
// Still broken: a paused process writes late; waiters poll: a storm of commands, and starvation; failover.
package lockv6

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// Locker is the lock. What it knows is in Redis, but for the renewals of its own holders.
type Locker struct {
	client   redis.Cmdable
	opts     lock.Options
	holdings lock.Holdings
}

// New makes the lock of the key opts.Key.
func New(client redis.Cmdable, opts lock.Options) *Locker {
	return &Locker{client: client, opts: opts}
}

// Lock polls until the lock is ours; see lock.Locker.
func (l *Locker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return lock.Poll(ctx, l.opts, func() (*lock.Lease, error) { return l.TryLock(ctx, owner) })
}

// TryLock makes one attempt; see lock.Locker.
func (l *Locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	sent := l.opts.Clock.Now()
	reply, err := l.client.Eval(ctx, lua.Lock, []string{l.opts.Key}, owner, l.opts.TTL.Milliseconds()).Int64()
	switch {
	case err != nil: // if only the reply was lost, the lock may be ours: give it back, here or with the outermost call's
		return nil, l.undo(ctx, rediserr.Classify(ctx, "EVAL lock.lua", err), owner)
	case reply == lua.NotTaken:
		return nil, lock.ErrNotObtained
	}
	ctx, unguard := l.holdings.Join(owner, reply, func() *lock.Renewal { return l.startRenewal(owner, sent) }).Guard(ctx)
	leave := sync.OnceValue(func() bool { return l.holdings.Leave(owner) }) // a failed Unlock may be tried again
	return lock.NewLease(ctx, l.opts.Clock, 0, func(ctx context.Context) error {
		defer unguard()
		return l.unlock(ctx, owner, leave())
	}), nil
}
