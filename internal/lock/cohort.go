package lock

import (
	"context"
	"time"
)

// Holding is one stretch of time in which a process holds the lock and serves its sales one after the other.
type Holding struct {
	Renewal  *Renewal                    // renewal of the lock in Redis
	Token    int64                       // fencing token of the current sale; 0 for locks without tokens
	HandOffs int                         // number of hand-offs left
	Release  func(context.Context) error // releases the lock in Redis; fails as Lease.Unlock does
}

// maxHolding bounds a holding in time. The hand-off limit alone would let slow sales keep the lock from other processes for long.
const maxHolding = time.Second

// Cohort is a queue whose sales share the lock of their process: each hands it to the next without a command, a bounded number of times
// (Dice, Marathe, Shavit: Lock Cohorting, PPoPP 2012).
type Cohort struct {
	*Queue

	held  *Holding  // current holding; nil while the process does not hold the lock. Only the owner that has the turn may use it
	until time.Time // end of the hand-offs of this holding
}

// NewCohort returns a cohort whose process does not hold the lock. idle is called when a turn ends while nobody waits for the next.
func NewCohort(opts Options, idle func(context.Context)) *Cohort {
	c := &Cohort{}
	c.Queue = NewQueue(opts, func(ctx context.Context) {
		if c.held != nil { // The lock was handed to a waiter that has left.
			_ = WithDetachedTimeout(ctx, opts.Clock, c.endHolding)
		}
		idle(ctx)
	})
	return c
}

// Take returns a lease for the owner that has the turn: of the lock that the process holds already, or of the one that obtain gets. The
// turn ends with the lease, or at once if Take fails.
func (c *Cohort) Take(ctx context.Context, obtain func() (*Holding, error)) (*Lease, error) {
	if c.held == nil || c.held.Renewal.IsLost() && !c.isNested() {
		held, err := obtain()
		if c.held = held; err != nil {
			c.Leave(ctx, err)
			return nil, err
		}
		c.until = c.opts.Clock.Now().Add(maxHolding)
	}
	held := c.held
	work, end := held.Renewal.Guard(ctx)
	left := false
	lease := NewLease(work, c.opts.Clock, held.Token, func(ctx context.Context) error {
		defer end()
		if left { // A failed Unlock is repeated; another owner has the turn now.
			return held.Release(ctx)
		}
		left = true
		return c.unlock(ctx)
	})
	lease.lose = held.Renewal.Lose
	return lease, nil
}

// unlock hands the lock to the next sale, or releases it. In a nested call it does neither.
func (c *Cohort) unlock(ctx context.Context) error {
	defer c.Leave(ctx, nil)
	held := c.held
	lost := held.Renewal.IsLost()
	switch {
	case c.isNested() && lost:
		return ErrExpired
	case c.isNested():
		return nil
	case lost || held.HandOffs == 0 || c.Waiting() == 0 || !c.opts.Clock.Now().Before(c.until):
		return c.endHolding(ctx)
	}
	held.HandOffs--
	if held.Token > 0 {
		held.Token++ // A late write of the previous sale must be refused, too.
	}
	return nil
}

// endHolding ends the holding and releases the lock.
func (c *Cohort) endHolding(ctx context.Context) error {
	held := c.held
	c.held = nil
	return held.Release(ctx)
}

// isNested reports whether the owner that has the turn is in a nested call.
func (c *Cohort) isNested() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.depth > 1
}
