// Package lockv9 is the ninth step of the evolution: the lock is handed over.
//
// Adds: v8, and a queue of processes in Redis: a release hands the lock to the first that lives, which is told by a message.
// Costs: as v8 without the pause; a subscription per process, from its first wait on.
// Still broken: a failover forgets the lock; a buyer alone pays two round trips for a lock that nobody else wants.
//
// A lost message delays by a quarter of the expiry; a process that dies in the queue or with the lock, by one expiry and that quarter.
package lockv9

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// Options are what the lock is told.
type Options struct {
	lock.CohortOptions

	Notifier lock.Notifier // tells this process that the lock was handed to it
}

// Locker is the lock of one process. Lock and TryLock are the cohort's, for which the rest is the global lock.
type Locker struct {
	*lock.Cohort

	client redis.Cmdable
	opts   Options
	grants *lock.Inbox // attempts to which the lock was handed over
	queued string      // the attempt that may have a place in the queue
}

// New makes the lock of the key opts.Key.
func New(client redis.Cmdable, opts Options) *Locker {
	l := &Locker{client: client, opts: opts}
	l.Cohort = lock.NewCohort(opts.CohortOptions, lock.Rounds, l)
	l.grants = lock.NewInbox(opts.Notifier, opts.Clock, l.channels()+"turn:"+l.Process())
	return l
}

// Acquire waits in Redis's queue until the lock is this process's; see lock.Global. It asks again every quarter of the expiry: that keeps
// its place, and makes up for a message that was lost.
func (l *Locker) Acquire(ctx context.Context) (lock.Grant, error) {
	held := l.NewAttempt()
	for ctx.Err() == nil {
		held.Sent = l.opts.Clock.Now()
		granted, err := l.ask(ctx, held, l.opts.TTL)
		if !errors.Is(err, lock.ErrNotObtained) {
			return granted, err
		}
		if l.grants.Open() {
			continue // a message may have been missed before
		}
		l.grants.Wait(ctx, l.opts.TTL/4)
		// a lock that was handed over lasts one expiry from when we asked, and has to be renewed before
		if granted, ours := l.grants.Granted(held); ours && l.opts.Clock.Now().Sub(held.Sent) < l.opts.TTL/2 {
			l.queued = ""
			return granted, nil
		}
	}
	return lock.Grant{}, lock.WaitError(ctx, l.opts.WaitTimeout)
}

// TryAcquire makes one attempt; see lock.Global.
func (l *Locker) TryAcquire(ctx context.Context) (lock.Grant, error) {
	return l.ask(ctx, l.NewAttempt(), 0)
}

// ask asks for the lock once, and for a place in the queue for so long.
func (l *Locker) ask(ctx context.Context, held lock.Grant, place time.Duration) (lock.Grant, error) {
	reply, err := l.client.Eval(ctx, lua.Acquire, l.keys(), l.Process(), held.Attempt,
		l.opts.TTL.Milliseconds(), l.Tokens(), place.Milliseconds(), l.channels()).Int64Slice()
	switch {
	case err != nil: // if only the reply was lost, the lock may be ours, or a place: give it back
		err = rediserr.Classify(ctx, "EVAL acquire.lua", err)
		return lock.Grant{}, lock.Undo(ctx, l.opts.Clock, err, func(ctx context.Context) error { return l.unlock(ctx, held) })
	case reply[0] == lua.NotTaken:
		if place > 0 {
			l.queued = held.Attempt
		}
		return lock.Grant{}, lock.ErrNotObtained
	}
	l.queued = ""
	return held.WithTokens(reply[1], l.Tokens()), nil
}

// keys returns the keys, which are in one slot of a Redis Cluster.
func (l *Locker) keys() []string {
	return []string{l.opts.Key, "{" + l.opts.Key + "}:queue", "{" + l.opts.Key + "}:fence"}
}

// channels returns what the names of the channels begin with.
func (l *Locker) channels() string { return "{" + l.opts.Key + "}:" }
