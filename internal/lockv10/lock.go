// Package lockv10 is the tenth step of the evolution: the lock is handed over.
//
// Adds: v9, and a queue of processes in Redis: a release wakes the first live process by a message.
// Costs: as v9 without the pause; a subscription per process, from its first wait on.
// Still broken: two holders after a pause; a failover forgets the lock; a buyer alone pays two round trips for a lock that nobody else
// wants.
//
// A lost message delays by a quarter of the expiry; a process that dies in the queue or with the lock, by one expiry and that quarter.
// It repeats lockv9 on purpose: the difference of the two is the lesson.
package lockv10

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// rounds bounds the hand-offs of a holding: so many for each sale that waits in the process when it obtains the lock, and for the first
// sale. The longest wait is about rounds times the mean. With fewer rounds the lock changes processes more often, which costs time.
const rounds = 3

// Locker is the lock. Its state is in Redis, except for the local queue of this process and its holding.
type Locker struct {
	client redis.Cmdable
	opts   lock.Options
	line   *lock.Cohort // local queue
	turn   *lock.Inbox  // messages that it is this process's turn
	queued string       // owner that may have a place in the queue; "": none
}

// New returns the lock with the key opts.Key.
func New(client redis.Cmdable, opts lock.Options) *Locker {
	l := &Locker{client: client, opts: opts}
	l.line = lock.NewCohort(opts, l.quit)
	l.turn = lock.NewInbox(opts, l.turnPrefix()+opts.Process)
	return l
}

// Lock waits in line, and then, unless the lock was handed on, in Redis's queue until it is this process's turn; see lock.Locker.
func (l *Locker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	wait, stop := lock.WithTimeout(ctx, l.opts.Clock, l.opts.WaitTimeout, lock.ErrTimeout)
	defer stop()
	if err := l.line.Enter(wait, owner); err != nil {
		return nil, err
	}
	return l.line.Take(ctx, func() (*lock.Holding, error) {
		for wait.Err() == nil {
			held, err := l.attempt(ctx, owner, l.opts.TTL)
			if !errors.Is(err, lock.ErrNotObtained) {
				return held, err
			}
			l.turn.Wait(wait, l.opts.TTL/4) // asking again keeps the place, and makes up for a lost message
		}
		return nil, lock.WaitError(wait, l.opts.WaitTimeout)
	})
}

// TryLock makes one attempt, unless another sale of this process has the turn; see lock.Locker.
func (l *Locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	if err := l.line.TryEnter(ctx, owner); err != nil {
		return nil, err
	}
	return l.line.Take(ctx, func() (*lock.Holding, error) { return l.attempt(ctx, owner, 0) })
}

// attempt asks Redis for the lock once, and if place is positive, for a place in the queue that expires after so much time.
func (l *Locker) attempt(ctx context.Context, owner string, place time.Duration) (*lock.Holding, error) {
	owner = lock.ProcessOwner(l.opts.Process, owner) // not the sale's: other sales of the process will use the lock
	sent, tokens := l.opts.Clock.Now(), l.opts.HandOffLimit+1
	reply, err := l.client.Eval(ctx, lua.Acquire, l.keys(), owner, l.opts.TTL.Milliseconds(), tokens,
		l.opts.Process, place.Milliseconds()).Int64Slice()
	switch {
	case err != nil: // if only the reply was lost, the lock or a place may be ours: give it up
		return nil, l.undo(ctx, rediserr.Classify(ctx, "EVAL acquire.lua", err), owner)
	case reply[0] == lua.NotTaken:
		if place > 0 {
			l.queued = owner
		}
		return nil, lock.ErrNotObtained
	}
	l.queued = ""
	renewal := l.startRenewal(owner, sent)
	handOffs := min(l.opts.HandOffLimit, rounds*(1+l.line.Waiting()))
	return &lock.Holding{Renewal: renewal, Token: reply[1], HandOffs: handOffs, Release: func(ctx context.Context) error {
		renewal.Stop() // waits, so that no renewal comes after the release
		return l.release(ctx, owner)
	}}, nil
}

// keys returns the keys, which are in one slot of a Redis Cluster.
func (l *Locker) keys() []string {
	return []string{l.opts.Key, "{" + l.opts.Key + "}:fence", "{" + l.opts.Key + "}:queue"}
}

// turnPrefix returns the prefix of the channels that announce a process's turn.
func (l *Locker) turnPrefix() string { return "{" + l.opts.Key + "}:turn:" }
