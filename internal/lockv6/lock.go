// Package lockv6 is the sixth step of the evolution: the lock is renewed while the work runs.
//
// Adds: renewal while the work runs; losing the lock ends the context of the work.
// Costs: as v5; a goroutine per lock, a script every third of the expiry.
// Still broken: a paused process writes late; waiters poll: a storm of commands, and starvation; a failover forgets the lock.
package lockv6

import (
	"context"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// Locker is the lock. Its state is in Redis, except for the renewals of this process's holders.
type Locker struct {
	client   redis.Cmdable
	opts     lock.Options
	renewals lock.Renewals // renewals of the locks that this process holds
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
	sent := l.opts.Clock.Now()
	count, err := l.client.Eval(ctx, lua.Lock, []string{l.opts.Key}, owner, l.opts.TTL.Milliseconds()).Int()
	renewal, nested := l.renewals.Get(owner)
	switch {
	case err != nil && nested: // if only the reply was lost, the outer call releases this one, too
		return nil, rediserr.Classify(ctx, "EVAL lock.lua", err)
	case err != nil: // if only the reply was lost, the lock may be ours: release it
		return nil, l.undo(ctx, rediserr.Classify(ctx, "EVAL lock.lua", err), owner)
	case count == lua.NotTaken:
		return nil, lock.ErrNotObtained
	case nested && count == 1: // the outer call's lock was gone
		renewal.Lose()
	case !nested:
		renewal = l.startRenewal(owner, sent)
		l.renewals.Put(owner, renewal)
	}
	work, end := renewal.Guard(ctx) // ends with ctx, and when the lock is lost
	return lock.NewLease(work, l.opts.Clock, 0, func(ctx context.Context) error {
		defer end()
		if nested {
			_, err := l.unlock(ctx, owner)
			return err
		}
		renewal.Stop() // waits, so that no renewal comes after the release
		l.renewals.Remove(owner)
		return l.release(ctx, owner)
	}), nil
}
