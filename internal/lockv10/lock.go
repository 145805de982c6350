// Package lockv10 is the tenth step of the evolution: the lock is cached.
//
// Adds: v9, and a process keeps a lock that nobody waits for until another asks for it: its next sale costs no lock command.
// Costs: the first sale of another process waits for one message more; a subscription per process.
// Still broken: a failover forgets the lock; the others wait for a keeper that died, as for any holder.
//
// A kept lock is not renewed while no sale uses it: a process that cannot be asked, as it is dead or paused, delays the others by one
// expiry and a quarter at most. Source: Burrows, The Chubby Lock Service, 2006, section 2.7 (lock caching).
// It repeats lockv9 on purpose: the difference of the two is the lesson.
package lockv10

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// Options are what the lock is told.
type Options struct {
	lock.CohortOptions

	Notifier lock.Notifier // tells this process that the lock was handed to it, or is wanted by another
}

// Locker is the lock of one process. Lock and TryLock are the cohort's, for which the rest is the global lock.
type Locker struct {
	*lock.Cohort

	client redis.Cmdable
	opts   Options
	grants *lock.Inbox // attempts to which the lock was handed over
	queued string      // the attempt that may have a place in the queue

	mu          sync.Mutex
	cached      lock.Grant    // the lock while no sale uses it
	wanted      string        // the last attempt whose lock another process asked for
	missed      bool          // a message from another process may have been missed
	unsubscribe func()        // ends the subscription to messages; nil before the first sale
	returned    chan struct{} // closed when the cached lock that was asked for last has been given back; nil before
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
	if held, usable := l.reuse(); usable {
		return held, nil
	}
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
	if held, usable := l.reuse(); usable {
		return held, nil
	}
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
	if anotherWaits := reply[2] == 1; anotherWaits {
		l.hear(held.Attempt)
	}
	return held.WithTokens(reply[1], l.Tokens()), nil
}

// reuse gives the cached lock, if that has tokens and time enough left; else it is asked for.
func (l *Locker) reuse() (held lock.Grant, usable bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unsubscribe == nil {
		l.unsubscribe = l.opts.Notifier.Subscribe(l.channels()+"wanted:"+l.Process(), l.hear)
	}
	held, l.cached = l.cached, lock.Grant{}
	usable = held.Token < held.LastToken && l.fresh(held)
	if held.Attempt != "" && !usable {
		l.queued = held.Attempt // Redis may still have it
	}
	return held.Next(), usable
}

// hear is told the attempt whose lock another process asks for, or nothing when that may have been missed. A cached lock is given back at
// once.
func (l *Locker) hear(attempt string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held, missed := l.cached, attempt == ""
	switch inUse := held.Attempt == ""; {
	case inUse && missed:
		l.missed = true
		return
	case inUse || !missed && attempt != held.Attempt:
		l.wanted = attempt
		return
	}
	returned := make(chan struct{})
	l.cached, l.returned = lock.Grant{}, returned
	l.opts.Clock.Go(func() {
		defer close(returned)
		unlock := func(ctx context.Context) error { return l.unlock(ctx, held) }
		_ = lock.WithDetachedTimeout(context.Background(), l.opts.Clock, unlock) // or it expires
	})
}

// fresh reports whether the lock has at least half of its expiry left.
func (l *Locker) fresh(held lock.Grant) bool {
	return l.opts.Clock.Now().Sub(held.Sent) < l.opts.TTL/2
}

// keys returns the keys, which are in one slot of a Redis Cluster.
func (l *Locker) keys() []string {
	return []string{l.opts.Key, "{" + l.opts.Key + "}:queue", "{" + l.opts.Key + "}:fence"}
}

// channels returns what the names of the channels begin with.
func (l *Locker) channels() string { return "{" + l.opts.Key + "}:" }
