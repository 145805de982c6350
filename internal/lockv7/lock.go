// Package lockv7 is the seventh step of the evolution: the lock is fenced.
//
// Adds: v6, and a fencing token: a number that grows with every holder; the store refuses a smaller one than it has seen.
// Costs: as v6; the store looks at the token at every read and write.
// Still broken: two holders after a pause: only a store that checks the token is safe; waiters poll: a storm of commands, starvation, no
// order; a failover forgets the lock.
//
// Source: Kleppmann, How to do distributed locking, 2016.
// It repeats lockv6 on purpose: the difference of the two is the lesson.
package lockv7

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
	reply, err := l.client.Eval(ctx, lua.LockFenced, l.keys(), owner, l.opts.TTL.Milliseconds(), 1).Int64Slice()
	renewal, nested := l.renewals.Get(owner)
	switch {
	case err != nil && nested: // if only the reply was lost, the outer call releases this one, too
		return nil, rediserr.Classify(ctx, "EVAL lockFenced.lua", err)
	case err != nil: // if only the reply was lost, the lock may be ours: release it
		return nil, l.undo(ctx, rediserr.Classify(ctx, "EVAL lockFenced.lua", err), owner)
	case reply[0] == lua.NotTaken:
		return nil, lock.ErrNotObtained
	case nested && reply[0] == 1: // the outer call's lock was gone
		renewal.Lose()
	case !nested:
		renewal = l.startRenewal(owner, sent)
		l.renewals.Put(owner, renewal)
	}
	work, end := renewal.Guard(ctx) // ends with ctx, and when the lock is lost
	return lock.NewLease(work, l.opts.Clock, reply[1], func(ctx context.Context) error {
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

// keys returns the keys, which are in one slot of a Redis Cluster.
func (l *Locker) keys() []string { return []string{l.opts.Key, "{" + l.opts.Key + "}:fence"} }
