// Package redlock is a branch of the evolution, off v9: Redlock, the lock on a majority of independent masters.
//
// Adds: a branch off v9: a majority of N independent masters instead of one; while a minority is down or hangs, the lock stays available
// and exclusive.
// Costs: every command goes to all of them; processes poll.
// Still broken: no fencing token; no order between processes; a node that restarts empty; a clock that jumps.
//
// A process holds the lock once a majority has granted it within the validity time: TTL − 1 % − 2 ms.
// Sources: redis.io, Distributed Locks with Redis; Kleppmann 2016 and Antirez 2016 on its clocks.
package redlock

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/quorum"
)

// Locker is the lock. Its state is on the nodes, except for the local queue of this process and its holding.
type Locker struct {
	nodes *quorum.Nodes
	asked []*quorum.Node // nodes asked in the last attempt
	opts  lock.Options
	line  *lock.Cohort // local queue
	yield atomic.Bool  // true: sales wait although the lock was released, so another process gets the next chance
}

// New returns the lock with the key opts.Key on these nodes. Their number should be odd, and three at least.
func New(clients []redis.Cmdable, opts lock.Options) *Locker {
	nodes := quorum.New(clients, opts.Clock, opts.TTL/20) // a node's time to answer has to be much shorter than the validity time
	return &Locker{nodes: nodes, opts: opts, line: lock.NewCohort(opts, func(context.Context) {})}
}

// validity returns the validity time: how long the lock may be relied on, counted from before the first request for it. It allows for
// clocks that differ by one per cent in speed, and for expiries in Redis that are a millisecond or so off.
func (l *Locker) validity() time.Duration { return l.opts.TTL - l.opts.TTL/100 - 2*time.Millisecond }

// Lock waits in line, and then, unless the lock was handed on, polls until it is this process's; see lock.Locker.
func (l *Locker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	wait, stop := lock.WithTimeout(ctx, l.opts.Clock, l.opts.WaitTimeout, lock.ErrTimeout)
	defer stop()
	if err := l.line.Enter(wait, owner); err != nil {
		return nil, err
	}
	return l.line.Take(ctx, func() (*lock.Holding, error) {
		if l.yield.Swap(false) {
			_ = lock.Sleep(wait, l.opts.Clock, l.opts.RetryInterval) // PollAt checks wait itself
		}
		return lock.PollAt(wait, l.opts, l.pause, func() (*lock.Holding, error) { return l.attempt(wait, owner) })
	})
}

// pause returns a random pause, so that processes that split the vote do not split it again.
func (l *Locker) pause() time.Duration {
	half := l.opts.RetryInterval / 2
	return half + time.Duration(l.opts.Rand(int64(half)+1))
}

// TryLock makes one attempt, unless another sale of this process has the turn; see lock.Locker.
func (l *Locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	if err := l.line.TryEnter(ctx, owner); err != nil {
		return nil, err
	}
	return l.line.Take(ctx, func() (*lock.Holding, error) { return l.attempt(ctx, owner) })
}

// attempt asks all nodes for the lock once, under an id that no other attempt has. Without a majority in time it releases what it got.
func (l *Locker) attempt(ctx context.Context, owner string) (*lock.Holding, error) {
	sent, attempt := l.opts.Clock.Now(), fmt.Sprintf("%s:%x", lock.ProcessOwner(l.opts.Process, owner), l.opts.Rand(math.MaxInt64))
	var t quorum.Tally
	t, l.asked = l.nodes.Vote(ctx, func(ctx context.Context, node redis.Cmdable) (bool, error) {
		err := node.SetArgs(ctx, l.opts.Key, attempt, redis.SetArgs{Mode: "NX", TTL: l.opts.TTL}).Err()
		if errors.Is(err, redis.Nil) {
			return false, nil
		}
		return err == nil, err
	})
	if t.Yes >= l.nodes.Majority() && l.opts.Clock.Now().Sub(sent) < l.validity() {
		renewal := l.startRenewal(attempt, sent)
		return &lock.Holding{Renewal: renewal, HandOffs: l.opts.HandOffLimit, Release: func(ctx context.Context) error {
			l.yield.Store(l.line.Waiting() > 0)
			renewal.Stop() // waits, so that no renewal comes after the release
			return l.release(ctx, attempt)
		}}, nil
	}
	_ = lock.WithDetachedTimeout(ctx, l.opts.Clock, func(ctx context.Context) error { return l.release(ctx, attempt) }) // t says what matters
	switch {
	case ctx.Err() != nil:
		return nil, lock.WaitError(ctx, l.opts.WaitTimeout)
	case t.Failed > l.nodes.Minority():
		return nil, l.nodes.UnavailableError("SET", t)
	}
	return nil, lock.ErrNotObtained
}
