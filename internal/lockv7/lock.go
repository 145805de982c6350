// Package lockv7 is the seventh step of the evolution: the lock is handed over.
//
// Adds: queues. Sales of one process wait in line there, and pass the lock along without a word to Redis; processes wait in a
// queue in Redis, and the first has the lock as soon as it is given back. It is a cohort lock (Dice, Marathe, Shavit: Lock Cohorting,
// PPoPP 2012).
// Costs: a subscription a process, from its first wait on. A message that is lost delays by a quarter of the expiry, a process that dies
// in the queue or with the lock by one expiry and that quarter.
// Still broken: a process paused past its expiry still writes.
package lockv7

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// maxTenure is how long a process may keep the lock while another one waits, however few its passes.
const maxTenure = time.Second

// rounds is how often those who are in a process when it gets the lock may have it before another process that waits. It is about
// how many times the mean wait the longest one is; but the fewer, the more hand-overs, which cost time.
const rounds = 3

// Options are those of every lock, and what processes need that compete.
type Options struct {
	lock.Options

	Process      string              // a name that no other process has
	HandOffLimit int                 // how often a process may hand the lock to its next sale while another process waits
	Notifier     lock.Notifier       // tells a process that the lock was handed to it
	Rand         func(n int64) int64 // from 0 to n-1
}

// Locker is the lock of one process.
type Locker struct {
	client  redis.Cmdable
	opts    Options
	process string // as Redis knows us

	mu     sync.Mutex
	taken  bool      // somebody has the turn
	line   []*waiter // those who wait for it
	tenure *tenure   // nil while Redis does not count the lock as ours

	rung   chan struct{} // holds one token when the process was woken
	unbell func()        // ends listening; nil while nobody listens
	heard  string        // the claim that was last granted the lock, as a message said

	serial int64  // of this Locker: its process may have had others
	claims int    // how many there were; what follows belongs to whoever has the turn
	claim  string // to the lock in Redis, or to a place in the queue
	placed bool   // there may be such a place
}

// New makes the lock of the key opts.Key.
func New(client redis.Cmdable, opts Options) *Locker {
	return &Locker{
		client: client, opts: opts, process: lock.Owner(opts.Process), rung: make(chan struct{}, 1), serial: opts.Rand(math.MaxInt32),
	}
}

// Lock waits in line, and then, if this process does not hold the lock, in Redis's queue; see lock.Locker.
func (l *Locker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	if l.again(owner) {
		return l.lease(ctx), nil
	}
	wait, stop := lock.WithTimeout(ctx, l.opts.Clock, l.opts.WaitTimeout, lock.ErrTimeout)
	defer stop()
	if err := l.turn(wait); err != nil {
		return nil, err
	}
	if !l.passedTo(owner) {
		sent, err := l.contend(wait)
		if err != nil {
			l.endTurn(ctx, err)
			return nil, err
		}
		l.begin(owner, sent)
	}
	return l.lease(ctx), nil
}

// TryLock does not wait, neither here nor in Redis; see lock.Locker.
func (l *Locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	if l.again(owner) {
		return l.lease(ctx), nil
	}
	if !l.tryTurn() {
		return nil, lock.ErrNotObtained
	}
	l.newClaim()
	sent := l.opts.Clock.Now()
	if err := l.acquire(ctx, 0); err != nil {
		l.endTurn(ctx, err)
		return nil, err
	}
	l.begin(owner, sent)
	return l.lease(ctx), nil
}

// lease is one more for the owner that has the turn.
func (l *Locker) lease(ctx context.Context) *lock.Lease {
	ctx, unguard := l.tenure.renewal.Guard(ctx)
	left := false
	return lock.NewLease(ctx, l.opts.Clock, 0, func(ctx context.Context) error {
		defer unguard()
		if left {
			return l.releaseAgain(ctx)
		}
		outermost, err := l.leave()
		if !outermost {
			return err
		}
		left = true
		return l.unlock(ctx)
	})
}
