// Package redlock is a branch of the evolution, off v8: Redlock, the lock on a majority of independent masters.
//
// Adds: a branch off v8: a majority of N independent masters instead of one; a minority may fail.
// Costs: every command goes to all of them; processes poll.
// Still broken: no fencing; no order between processes; a node that restarts empty; clocks.
//
// A process holds the lock once a majority has granted it within the validity time: TTL − 1 % − 2 ms.
// Sources: redis.io, Distributed Locks with Redis; Kleppmann 2016 and Antirez 2016 on its clocks.
package redlock

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/quorum"
)

// Locker is the lock of one process. Lock and TryLock are the cohort's, for which the rest is the global lock.
type Locker struct {
	*lock.Cohort

	nodes *quorum.Nodes
	asked []*quorum.Node // for the last attempt
	opts  lock.CohortOptions
	yield bool // the hand-off limit was reached: another process is to have the lock
}

// New makes the lock of the key opts.Key on these nodes, of which there should be an odd number, three at least.
func New(clients []redis.Cmdable, opts lock.CohortOptions) *Locker {
	l := &Locker{nodes: quorum.New(clients, opts.Clock, opts.TTL/20), opts: opts} // a node's time has to be short beside the validity
	opts.TTL = l.validity()                                                       // for the renewal's deadline; the nodes get the whole TTL
	l.Cohort = lock.NewCohort(opts, 0, l)
	return l
}

// validity returns how long the lock may be relied on, counted from before the first request for it. It allows for clocks that run apart by
// one per cent, and for Redis's expiries that are a millisecond or so off.
func (l *Locker) validity() time.Duration { return l.opts.TTL - l.opts.TTL/100 - 2*time.Millisecond }

// Acquire polls until the lock is this process's; see lock.Global.
func (l *Locker) Acquire(ctx context.Context) (lock.Grant, error) {
	if l.yield {
		l.yield = false
		_ = lock.Sleep(ctx, l.opts.Clock, l.opts.RetryInterval) // Poll looks at ctx itself
	}
	return lock.PollAt(ctx, l.opts.Options, l.pause, func() (lock.Grant, error) { return l.TryAcquire(ctx) })
}

// pause returns a random pause, so that processes that split the vote do not do so again.
func (l *Locker) pause() time.Duration {
	half := l.opts.RetryInterval / 2
	return half + time.Duration(l.opts.Rand(int64(half)+1))
}

// TryAcquire makes one attempt; see lock.Global.
func (l *Locker) TryAcquire(ctx context.Context) (lock.Grant, error) {
	return l.ask(ctx, lock.Grant{Attempt: fmt.Sprintf("%s:%x", l.Process(), l.opts.Rand(math.MaxInt64)), Sent: l.opts.Clock.Now()})
}

// ask asks all nodes for the lock once. Without a majority in time it gives back what it got.
func (l *Locker) ask(ctx context.Context, held lock.Grant) (lock.Grant, error) {
	var t quorum.Tally
	t, l.asked = l.nodes.Vote(ctx, func(ctx context.Context, node redis.Cmdable) (bool, error) {
		err := node.SetArgs(ctx, l.opts.Key, held.Attempt, redis.SetArgs{Mode: "NX", TTL: l.opts.TTL}).Err()
		if errors.Is(err, redis.Nil) {
			return false, nil
		}
		return err == nil, err
	})
	if t.Yes >= l.nodes.Majority() && l.opts.Clock.Now().Sub(held.Sent) < l.validity() {
		return held, nil
	}
	_ = lock.WithDetachedTimeout(ctx, l.opts.Clock, func(ctx context.Context) error { return l.unlock(ctx, held) }) // t says what matters
	switch {
	case ctx.Err() != nil:
		return lock.Grant{}, lock.WaitError(ctx, l.opts.WaitTimeout)
	case t.Failed > l.nodes.Minority():
		return lock.Grant{}, l.nodes.Unavailable("SET", t)
	}
	return lock.Grant{}, lock.ErrNotObtained
}
