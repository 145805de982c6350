package lock

import (
	"context"
	"time"
)

// Holding is the time for which a process holds a lock, for one of its sales after the other.
type Holding struct {
	Renewal  *Renewal
	Token    int64                       // the fencing token of the sale that has the lock; 0 where there is none
	HandOffs int                         // how often it may still be handed on
	Release  func(context.Context) error // gives the lock back. It fails as Lease.Unlock does
}

// Cohort is a queue whose sales share the lock of their process: each hands it to the next without a command, a bounded number of times
// (Dice, Marathe, Shavit: Lock Cohorting, PPoPP 2012).
type Cohort struct {
	*Queue

	held  *Holding  // nil while the process does not hold the lock; of the owner that has the turn
	until time.Time // when it is handed on no more
}

// NewCohort makes one whose process does not hold the lock. idle is called when a turn ends while nobody waits for the next.
func NewCohort(opts Options, idle func(context.Context)) *Cohort {
	c := &Cohort{}
	c.Queue = NewQueue(opts, func(ctx context.Context) {
		if c.held != nil { // handed on to a waiter that left
			_ = WithDetachedTimeout(ctx, opts.Clock, c.giveBack)
		}
		idle(ctx)
	})
	return c
}

// Take gives a lease of the lock that the process holds, or obtains it, for the owner that has the turn. The turn ends with the lease; at
// once, if there is none.
func (c *Cohort) Take(ctx context.Context, obtain func() (*Holding, error)) (*Lease, error) {
	if c.held == nil || c.held.Renewal.Lost() && !c.nested() {
		held, err := obtain()
		if c.held = held; err != nil {
			c.Leave(ctx, err)
			return nil, err
		}
		c.until = c.opts.Clock.Now().Add(time.Second) // however slow the sales are, another process gets it then
	}
	held := c.held
	work, end := held.Renewal.Guard(ctx)
	left := false
	lease := NewLease(work, c.opts.Clock, held.Token, func(ctx context.Context) error {
		defer end()
		if left { // an Unlock that failed is tried again: the turn is another's by now
			return held.Release(ctx)
		}
		left = true
		return c.unlock(ctx)
	})
	lease.lose = held.Renewal.Lose
	return lease, nil
}

// unlock hands the lock on, or gives it back. A nested call leaves that to the outer one.
func (c *Cohort) unlock(ctx context.Context) error {
	defer c.Leave(ctx, nil)
	held := c.held
	switch lost := held.Renewal.Lost(); {
	case c.nested() && lost:
		return ErrExpired
	case c.nested():
		return nil
	case lost || held.HandOffs == 0 || c.Waiting() == 0 || !c.opts.Clock.Now().Before(c.until):
		return c.giveBack(ctx)
	}
	held.HandOffs--
	if held.Token > 0 {
		held.Token++ // a late write of the sale before is stale, too
	}
	return nil
}

// giveBack ends the holding.
func (c *Cohort) giveBack(ctx context.Context) error {
	held := c.held
	c.held = nil
	return held.Release(ctx)
}

// nested reports whether the owner that has the turn is in a nested call.
func (c *Cohort) nested() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.depth > 1
}
