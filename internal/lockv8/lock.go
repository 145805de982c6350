// Package lockv8 is the eighth step of the evolution: the sales of a process wait in line.
//
// Adds: v7, and a queue inside the process: one contender per process, which hands the lock on a bounded number of times.
// Costs: 2 scripts when nobody waits, far below 1 per sale when many do; a pause at the hand-off limit.
// Still broken: between processes: polling, in no order; failover.
//
// Source: Dice, Marathe, Shavit, Lock Cohorting, 2012 (see lock.Cohort).
package lockv8

import (
	"context"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// Locker is the lock of one process. Lock and TryLock are the cohort's, for which the rest is the global lock.
type Locker struct {
	*lock.Cohort

	client redis.Cmdable
	opts   lock.CohortOptions
	yield  bool // the hand-off limit was reached: another process is to have the lock
}

// New makes the lock of the key opts.Key.
func New(client redis.Cmdable, opts lock.CohortOptions) *Locker {
	l := &Locker{client: client, opts: opts}
	l.Cohort = lock.NewCohort(opts, 0, l)
	return l
}

// Acquire polls until the lock is this process's; see lock.Global.
func (l *Locker) Acquire(ctx context.Context) (lock.Grant, error) {
	if l.yield {
		l.yield = false
		_ = lock.Sleep(ctx, l.opts.Clock, l.opts.RetryInterval) // Poll looks at ctx itself
	}
	return lock.Poll(ctx, l.opts.Options, func() (lock.Grant, error) { return l.TryAcquire(ctx) })
}

// TryAcquire makes one attempt; see lock.Global.
func (l *Locker) TryAcquire(ctx context.Context) (lock.Grant, error) {
	return l.ask(ctx, l.NewAttempt())
}

// ask asks for the lock once.
func (l *Locker) ask(ctx context.Context, held lock.Grant) (lock.Grant, error) {
	reply, err := l.client.Eval(ctx, lua.LockFenced, l.keys(), held.Attempt,
		l.opts.TTL.Milliseconds(), l.Tokens()).Int64Slice()
	switch {
	case err != nil: // if only the reply was lost, the lock may be ours: give it back
		err = rediserr.Classify(ctx, "EVAL lockFenced.lua", err)
		return lock.Grant{}, lock.Undo(ctx, l.opts.Clock, err, func(ctx context.Context) error { return l.unlock(ctx, held) })
	case reply[0] == lua.NotTaken:
		return lock.Grant{}, lock.ErrNotObtained
	}
	return held.WithTokens(reply[1], l.Tokens()), nil
}

// keys returns the keys, which are in one slot of a Redis Cluster.
func (l *Locker) keys() []string {
	return []string{l.opts.Key, "{" + l.opts.Key + "}:fence"}
}
