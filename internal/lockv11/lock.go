// Package lockv11 is the eleventh step of the evolution: the lock is cached.
//
// Adds: v10, and a process keeps a lock that nobody waits for until another asks for it: its next sale costs no lock command.
// Costs: the first sale of another process waits for one message more; a subscription per process.
// Still broken: two holders after a pause; a failover forgets the lock; if its keeper dies, others wait for the expiry.
//
// A kept lock is not renewed while no sale uses it: a process that cannot be asked, because it is dead or paused, delays the others by one
// expiry and a quarter at most. Source: Burrows, The Chubby Lock Service, 2006, section 2.7 (lock caching).
// It repeats lockv10 on purpose: the difference of the two is the lesson.
package lockv11

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

	mu          sync.Mutex
	kept        *keptLock     // nil while a sale uses the lock, or another process has it
	wanted      bool          // true: another process may have asked for the lock since this one did
	unsubscribe func()        // ends the subscription that sets wanted; nil before the first sale
	returned    chan struct{} // closed when the kept lock that onWanted released last is released; nil: none was
}

// keptLock is a lock that its process keeps while no sale uses it.
type keptLock struct {
	owner       string    // owner that obtained the lock
	sent        time.Time // send time of the command that set the expiry
	token, last int64     // fencing token of the last sale, and the last token reserved
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
		if held := l.reuse(ctx); held != nil {
			return held, nil
		}
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
	return l.line.Take(ctx, func() (*lock.Holding, error) {
		if held := l.reuse(ctx); held != nil {
			return held, nil
		}
		return l.attempt(ctx, owner, 0)
	})
}

// attempt asks Redis for the lock once, and if place is positive, for a place in the queue that expires after so much time.
func (l *Locker) attempt(ctx context.Context, owner string, place time.Duration) (*lock.Holding, error) {
	owner = lock.ProcessOwner(l.opts.Process, owner) // not the sale's: other sales of the process will use the lock
	sent, tokens := l.opts.Clock.Now(), l.opts.HandOffLimit+1
	l.setWanted(false)
	reply, err := l.client.Eval(ctx, lua.AcquireOrAsk, l.keys(), owner, l.opts.TTL.Milliseconds(), tokens,
		l.opts.Process, place.Milliseconds(), l.wantedPrefix()).Int64Slice()
	switch {
	case err != nil: // if only the reply was lost, the lock or a place may be ours: give it up
		return nil, l.undo(ctx, rediserr.Classify(ctx, "EVAL acquireOrAsk.lua", err), owner)
	case reply[0] == lua.NotTaken:
		if place > 0 {
			l.queued = owner
		}
		return nil, lock.ErrNotObtained
	}
	l.queued = ""
	if anotherWaits := reply[2] == 1; anotherWaits {
		l.setWanted(true)
	}
	return l.startHolding(keptLock{owner: owner, sent: sent, token: reply[1], last: reply[1] + int64(tokens) - 1}), nil
}

// startHolding starts the renewal of the lock and lets sales use it.
func (l *Locker) startHolding(k keptLock) *lock.Holding {
	renewal := l.startRenewal(k.owner, k.sent)
	handOffs := min(int(k.last-k.token), rounds*(1+l.line.Waiting()))
	held := &lock.Holding{Renewal: renewal, Token: k.token, HandOffs: handOffs}
	held.Release = func(ctx context.Context) error {
		renewal.Stop() // waits, so that no renewal comes after the release
		if l.tryKeep(keptLock{k.owner, renewal.Sent(), held.Token, k.last}) {
			return nil
		}
		return l.release(ctx, k.owner)
	}
	return held
}

// reuse returns the kept lock. It releases the lock and returns nil if its tokens are used up or it has less than half of its expiry left.
func (l *Locker) reuse(ctx context.Context) *lock.Holding {
	k := l.takeKept()
	switch {
	case k == nil:
		return nil
	case k.token == k.last || !l.isFresh(k.sent):
		_ = l.giveBack(ctx, k) // if this fails, the lock expires
		return nil
	}
	k.token++
	return l.startHolding(*k)
}

// keys returns the keys, which are in one slot of a Redis Cluster.
func (l *Locker) keys() []string {
	return []string{l.opts.Key, "{" + l.opts.Key + "}:fence", "{" + l.opts.Key + "}:queue"}
}

// turnPrefix returns the prefix of the channels that announce a process's turn.
func (l *Locker) turnPrefix() string { return "{" + l.opts.Key + "}:turn:" }

// wantedPrefix returns the prefix of the channels that announce to a process that another one waits for its lock.
func (l *Locker) wantedPrefix() string { return "{" + l.opts.Key + "}:wanted:" }
