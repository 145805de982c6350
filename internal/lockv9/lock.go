// Package lockv9 is the ninth step of the evolution: the lock is handed on.
//
// Adds: v8, and the process is the owner: it hands the lock to its next sale without a command, a bounded number of times.
// Costs: 2 scripts when nobody waits, far below 1 per sale when many do; a pause at the hand-off limit.
// Still broken: two holders after a pause; between processes: polling, in no order; a failover forgets the lock.
//
// Source: Dice, Marathe, Shavit, Lock Cohorting, 2012 (see lock.Cohort).
// It repeats lockv8 on purpose: the difference of the two is the lesson.
package lockv9

import (
	"context"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// Locker is the lock. Its state is in Redis, except for the local queue of this process and its holding.
type Locker struct {
	client redis.Cmdable
	opts   lock.Options
	line   *lock.Cohort // local queue
	yield  atomic.Bool  // true: sales wait although the lock was released, so another process gets the next chance
}

// New returns the lock with the key opts.Key.
func New(client redis.Cmdable, opts lock.Options) *Locker {
	return &Locker{client: client, opts: opts, line: lock.NewCohort(opts, func(context.Context) {})}
}

// Lock waits in line, and then, unless the lock was handed on, polls until it is this process's; see lock.Locker.
func (l *Locker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	wait, stop := lock.WithTimeout(ctx, l.opts.Clock, l.opts.WaitTimeout, lock.ErrTimeout)
	defer stop()
	if err := l.line.Enter(wait, owner); err != nil {
		return nil, err
	}
	return l.line.Take(ctx, func() (*lock.Holding, error) {
		if l.yield.Swap(false) {
			_ = lock.Sleep(wait, l.opts.Clock, l.opts.RetryInterval) // Poll checks wait itself
		}
		return lock.Poll(wait, l.opts, func() (*lock.Holding, error) { return l.attempt(ctx, owner) })
	})
}

// TryLock makes one attempt, unless another sale of this process has the turn; see lock.Locker.
func (l *Locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	if err := l.line.TryEnter(ctx, owner); err != nil {
		return nil, err
	}
	return l.line.Take(ctx, func() (*lock.Holding, error) { return l.attempt(ctx, owner) })
}

// attempt asks Redis for the lock once.
func (l *Locker) attempt(ctx context.Context, owner string) (*lock.Holding, error) {
	owner = lock.ProcessOwner(l.opts.Process, owner) // not the sale's: other sales of the process will use the lock
	sent, tokens := l.opts.Clock.Now(), l.opts.HandOffLimit+1
	reply, err := l.client.Eval(ctx, lua.LockFenced, l.keys(), owner, l.opts.TTL.Milliseconds(), tokens).Int64Slice()
	switch {
	case err != nil: // if only the reply was lost, the lock may be ours: release it
		return nil, l.undo(ctx, rediserr.Classify(ctx, "EVAL lockFenced.lua", err), owner)
	case reply[0] == lua.NotTaken:
		return nil, lock.ErrNotObtained
	}
	renewal := l.startRenewal(owner, sent)
	return &lock.Holding{Renewal: renewal, Token: reply[1], HandOffs: l.opts.HandOffLimit, Release: func(ctx context.Context) error {
		l.yield.Store(l.line.Waiting() > 0)
		renewal.Stop() // waits, so that no renewal comes after the release
		return l.release(ctx, owner)
	}}, nil
}

// keys returns the keys, which are in one slot of a Redis Cluster.
func (l *Locker) keys() []string { return []string{l.opts.Key, "{" + l.opts.Key + "}:fence"} }
