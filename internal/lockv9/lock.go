// Package lockv9 is the ninth step of the evolution: Redlock, the lock on a majority of independent masters.
//
// Adds: nodes that know nothing of each other. Who has set the lock on most of them, in less than its expiry, holds it; so a minority
// may crash, hang, or be cut off (redis.io: Distributed Locks with Redis). Inside a process it is passed along as before.
// Costs: every command goes to all nodes; processes poll, with a pause of chance, and no order between them.
// Still broken: no fencing, so a paused holder still writes (lockstep explore v9 --faults pause=1); a node that restarts empty forgets
// whom it agreed with (--faults node-restart=1); all nodes' clocks must run alike, for an expiry that comes early ends the agreement
// (--faults expiry=1). See Kleppmann: How to do distributed locking, 2016; Antirez: Is Redlock safe?, 2016.
package lockv9

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// maxTenure is how long a process may keep the lock, however few its passes: another one may wait.
const maxTenure = time.Second

// Options are those of every lock, and what processes need that compete.
type Options struct {
	lock.Options

	Process      string              // a name that no other process has
	HandOffLimit int                 // how often a process may hand the lock to its next sale while another process waits
	Rand         func(n int64) int64 // from 0 to n-1
}

// Locker is the lock of one process.
type Locker struct {
	nodes   []*node
	opts    Options
	process string // what our values begin with

	mu     sync.Mutex
	taken  bool      // somebody has the turn
	line   []*waiter // those who wait for it
	tenure *tenure   // nil while the lock is not ours
	yield  bool      // we have had it long enough: let another process try first
}

// New makes the lock of the key opts.Key on these nodes, of which there should be an odd number, three at least.
func New(clients []redis.Cmdable, opts Options) *Locker {
	l := &Locker{opts: opts, process: lock.Owner(opts.Process)}
	for _, client := range clients {
		l.nodes = append(l.nodes, newNode(client))
	}
	return l
}

// Lock waits in line, and then, if this process does not hold the lock, for a majority of the nodes; see lock.Locker.
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
		c, err := l.contend(wait)
		if err != nil {
			l.endTurn(err)
			return nil, err
		}
		l.begin(owner, c)
	}
	return l.lease(ctx), nil
}

// TryLock does not wait, neither here nor for the nodes; see lock.Locker.
func (l *Locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	if l.again(owner) {
		return l.lease(ctx), nil
	}
	if !l.tryTurn() {
		return nil, lock.ErrNotObtained
	}
	c, err := l.acquire(ctx)
	if err != nil {
		l.endTurn(err)
		return nil, err
	}
	l.begin(owner, c)
	return l.lease(ctx), nil
}

// lease is one more for the owner that has the turn.
func (l *Locker) lease(ctx context.Context) *lock.Lease {
	t := l.tenure
	ctx, unguard := t.renewal.Guard(ctx)
	left := false
	return lock.NewLease(ctx, l.opts.Clock, 0, func(ctx context.Context) error {
		defer unguard()
		if left {
			return l.release(ctx, t.claim)
		}
		outermost, err := l.leave()
		if !outermost {
			return err
		}
		left = true
		return l.unlock(ctx)
	})
}
