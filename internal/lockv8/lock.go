// Package lockv8 is the eighth step of the evolution: the sales of a process wait in line.
//
// Adds: v7, and a queue inside the process before it: one contender per process.
// Costs: as v7, but one waiter per process polls instead of all.
// Still broken: two holders after a pause; each sale pays its own lock commands; between processes: polling, in no order; a failover
// forgets the lock.
//
// It repeats lockv7 on purpose: the difference of the two is the lesson.
package lockv8

import (
	"context"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// Locker is the lock. Its state is in Redis, except for the local queue of this process and the renewal of its holder.
type Locker struct {
	client   redis.Cmdable
	opts     lock.Options
	renewals lock.Renewals // renewals of the locks that this process holds
	line     *lock.Queue   // local queue
}

// New returns the lock with the key opts.Key.
func New(client redis.Cmdable, opts lock.Options) *Locker {
	return &Locker{client: client, opts: opts, line: lock.NewQueue(opts, nil)}
}

// Lock waits in line, and then polls until the lock is ours; see lock.Locker.
func (l *Locker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	wait, stop := lock.WithTimeout(ctx, l.opts.Clock, l.opts.WaitTimeout, lock.ErrTimeout)
	defer stop()
	if err := l.line.Enter(wait, owner); err != nil {
		return nil, err
	}
	return l.line.Take(ctx, func() (*lock.Lease, error) {
		return lock.Poll(wait, l.opts, func() (*lock.Lease, error) { return l.attempt(ctx, owner) })
	})
}

// TryLock makes one attempt, unless another sale of this process has the turn; see lock.Locker.
func (l *Locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	if err := l.line.TryEnter(ctx, owner); err != nil {
		return nil, err
	}
	return l.line.Take(ctx, func() (*lock.Lease, error) { return l.attempt(ctx, owner) })
}

// attempt asks Redis for the lock once.
func (l *Locker) attempt(ctx context.Context, owner string) (*lock.Lease, error) {
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
