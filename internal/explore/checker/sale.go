package checker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"lockstep/internal/explore/engine"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/strategy"
)

// sale is what is known of one actor: of its sale, or the last one of its sales.
type sale struct {
	actor  *engine.Actor
	locker lock.Locker   // of its process
	waits  bool          // for the lock
	leases []*lock.Lease // that it has, the outermost first
	leaves bool          // it gives the outermost back
	bereft bool          // while it was inside, its lock ended
	sold   int           // how often it has

	// Whose its lock is, in truth:
	since   int  // when it became the holder
	keyed   bool // it entered as the holder of the key lock.Key
	named   bool // it entered without that, and something in Redis names it still
	evident bool // one of the two was so, or it was lost before
	lost    bool // its lock ended, and not by its Unlock
	gave    bool // its Unlock has given it back

	place place // among those who wait

	// While it waited, if it tries once:
	met       bool     // another one had something to do with the lock
	leftovers bool     // another one may have left something behind
	moments   []moment // how the lock was, as long as it met nobody

	spoiled bool // an Unlock of its failed

	// When it began to give the lock back, and whether it had no success, and no time left for another try.
	left     time.Duration
	timedOut bool
}

// inside reports whether it believes, and may believe, that it holds the lock.
func (s *sale) inside() bool {
	return len(s.leases) > 0 && !s.actor.Finished() && !s.actor.Dead() && !s.hasLossNotice()
}

// hasLossNotice reports whether it knows that its lock is lost.
func (s *sale) hasLossNotice() bool {
	return len(s.leases) > 0 && errors.Is(context.Cause(s.leases[0].Context()), lock.ErrLost)
}

// done reports whether it has no more use for a lock: it is dead, or was told, or is about to give the lock back.
func (s *sale) done() bool { return s.actor.Dead() || !s.waits && !s.inside() }

// over reports whether it has no use for a lock any more, and does not even give it back.
func (s *sale) over() bool { return s.actor.Dead() || s.actor.Finished() || s.hasLossNotice() }

// Inside reports whether an actor believes, and may believe, that it holds the lock.
func (c *Checker) Inside(a *engine.Actor) bool { return c.sales[a.Index].inside() }

// HasLossNotice reports whether an actor knows that its lock is lost.
func (c *Checker) HasLossNotice(a *engine.Actor) bool { return c.sales[a.Index].hasLossNotice() }

// recordLoss sees that its lock is not its own any more: it was given back by its own process, or not.
func (s *sale) recordLoss(given bool) {
	switch {
	case given && s.leaves:
		s.gave = true
	case s.leaves || len(s.leases) > 0:
		s.lost = true
	}
}

// RecordSale takes down that an actor has sold.
func (c *Checker) RecordSale(a *engine.Actor) { c.sales[a.Index].sold++ }

// Sold returns how many sales have succeeded.
func (c *Checker) Sold() (n int) {
	for _, s := range c.sales {
		n += s.sold
	}
	return n
}

// Untellable reports whether nothing in Redis says of a sale that entered whether it still has its lock.
func (c *Checker) Untellable() bool { return c.untellable }

// Undecided reports whether the schedule ended with a wait of which nobody can say whether time would end it.
func (c *Checker) Undecided() bool { return c.undecided }

// Contended reports whether a sale waits for a lock that another sale believes to hold.
func (c *Checker) Contended() bool {
	waits := slices.ContainsFunc(c.sales, func(s *sale) bool { return s.waits && len(s.leases) == 0 })
	return waits && slices.ContainsFunc(c.sales, (*sale).inside)
}

// Watch makes a lock tell the checker when an actor enters and leaves.
func (c *Checker) Watch(a *engine.Actor, l lock.Locker) lock.Locker {
	c.sales[a.Index].locker = l
	return watched{c, c.sales[a.Index], l}
}

var errNoLease = errors.New("the lock gives neither a lease nor an error")

type watched struct {
	c    *Checker
	sale *sale
	lock lock.Locker
}

// Lock implements lock.Locker. An actor that is to try once does.
func (l watched) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	s, take := l.sale, l.lock.Lock
	if s.actor.Once() && len(s.leases) == 0 {
		take = l.lock.TryLock
	}
	s.waits = true
	if len(s.leases) == 0 {
		l.c.beginWait(s)
	}
	l.c.x.BeginRound()
	lease, err := take(ctx, owner)
	s.waits = false
	if err == nil && lease == nil {
		err = fmt.Errorf("%s: %w", s.actor.Name, errNoLease)
		l.c.x.Fail(err)
	}
	if err != nil {
		l.c.checkRefusal(ctx, s, err)
		return nil, err
	}
	if len(s.leases) == 0 {
		l.c.enter(s, lease)
	} else {
		l.c.checkNested(s, lease)
	}
	s.leases = append(s.leases, lease)
	leave := sync.OnceValue(l.beginUnlock) // a failed Unlock may be tried again
	return lease.With(func(ctx context.Context) error {
		outermost := leave()
		err := lease.Unlock(ctx)
		l.c.checkUnlock(s, outermost, err)
		return err
	}), nil
}

// TryLock implements lock.Locker.
func (l watched) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	return l.Lock(ctx, owner)
}

// beginWait sees a sale ask for the lock.
func (c *Checker) beginWait(s *sale) {
	s.bereft, s.keyed, s.named, s.evident, s.lost, s.gave, s.met = false, false, false, false, false, false, false
	s.place, s.timedOut = place{}, false
	s.leftovers, s.moments = false, nil
	c.markContenders(nil)
}

// enter sees a sale enter. Its lock may have been lost before it heard of it.
func (c *Checker) enter(s *sale, lease *lock.Lease) {
	c.recordEntry(s.actor)
	s.keyed = c.holder == s.actor.Index
	s.bereft = c.scope == strategy.Everybody && !s.keyed && c.had[s.actor.Process]
	s.lost = s.bereft
	s.named = c.scope == strategy.Everybody && !s.keyed && !s.bereft && c.named(s.actor)
	s.evident = s.keyed || s.bereft || s.named
	c.untellable = c.untellable || c.scope == strategy.Everybody && !s.evident
	c.checkToken(s, lease)
	c.countOvertaken(s)
}

// beginUnlock is called when a sale is about to unlock. It reports whether that is its outermost lease.
func (l watched) beginUnlock() (outermost bool) {
	s := l.sale
	l.c.checkTold()
	ended := s.leases[0].Context().Err() != nil // for whatever reason, it was told to stop
	outermost = len(s.leases) == 1
	if outermost && s.bereft && !ended && !s.actor.Dead() {
		l.c.report(anomaly.Untold, "%s worked on without the lock, and nothing told it", "%s 丢了锁还在继续执行，自己并不知情", s.actor.Name)
	}
	s.leases = s.leases[:len(s.leases)-1]
	if outermost {
		s.leaves, s.left = true, l.c.x.Now()
	}
	return outermost
}
