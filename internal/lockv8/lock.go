// Package lockv8 is the eighth step of the evolution: the lock is fenced.
//
// Adds: a fencing token. Each time a process takes the lock it gets a larger one, and the store refuses who comes with a smaller
// one than it has seen (Kleppmann: How to do distributed locking, 2016).
// Costs: the store has to look at the token, at every read and write that the lock is for.
// Still broken: one Redis: a failover forgets the lock.
package lockv8

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
	token  int64         // its token

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
		token, sent, err := l.contend(wait)
		if err != nil {
			l.endTurn(ctx, err)
			return nil, err
		}
		l.begin(owner, token, sent)
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
	token, err := l.acquire(ctx, 0)
	if err != nil {
		l.endTurn(ctx, err)
		return nil, err
	}
	l.begin(owner, token, sent)
	return l.lease(ctx), nil
}

// lease is one more for the owner that has the turn.
func (l *Locker) lease(ctx context.Context) *lock.Lease {
	ctx, unguard := l.tenure.renewal.Guard(ctx)
	left := false
	return lock.NewLease(ctx, l.opts.Clock, l.tenure.fence(), func(ctx context.Context) error {
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
