package checker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"lockstep/internal/explore/anomaly"
	"lockstep/internal/explore/execution"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// sale is what is known of one actor.
type sale struct {
	actor  *execution.Actor
	waits  bool          // for the lock
	leases []*lock.Lease // that it has, the outermost first
	bereft bool          // while it was inside, its lock ended
}

// inside reports whether it believes, and may believe, that it holds the lock.
func (s *sale) inside() bool {
	return len(s.leases) > 0 && !s.actor.Finished() && !s.actor.Dead() && !s.told()
}

// told reports whether it knows that its lock is lost.
func (s *sale) told() bool {
	return len(s.leases) > 0 && errors.Is(context.Cause(s.leases[0].Context()), lock.ErrLost)
}

// done reports whether it has no more use for a lock: it is dead, or was told, or is about to give the lock back.
func (s *sale) done() bool { return s.actor.Dead() || !s.waits && !s.inside() }

// Inside reports whether an actor believes, and may believe, that it holds the lock.
func (c *Checker) Inside(a *execution.Actor) bool { return c.sales[a.Index].inside() }

// Told reports whether an actor knows that its lock is lost.
func (c *Checker) Told(a *execution.Actor) bool { return c.sales[a.Index].told() }

// Sold is how many sales have succeeded.
func (c *Checker) Sold() (n int) {
	for _, s := range c.sales {
		if s.actor.Finished() && s.actor.Err() == nil {
			n++
		}
	}
	return n
}

// Contended reports whether a sale waits for a lock that another sale believes to hold.
func (c *Checker) Contended() bool {
	waits := slices.ContainsFunc(c.sales, func(s *sale) bool { return s.waits && len(s.leases) == 0 })
	return waits && slices.ContainsFunc(c.sales, (*sale).inside)
}

// Watch makes a lock tell the checker when an actor enters and leaves.
func (c *Checker) Watch(a *execution.Actor, l lock.Locker) lock.Locker {
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
	l.c.x.BeginRound()
	lease, err := take(ctx, owner)
	s.waits = false
	if err == nil && lease == nil {
		err = fmt.Errorf("%s: %w", s.actor.Name, errNoLease)
		l.c.x.Fail(err)
	}
	if err != nil {
		return nil, err
	}
	if len(s.leases) == 0 {
		l.c.enters(s.actor)
		s.bereft = l.c.scope == strategy.Everybody && l.c.holder != s.actor.Index // it was lost before its actor heard of it
	}
	s.leases = append(s.leases, lease)
	leave := sync.OnceFunc(l.leaves) // a failed Unlock may be tried again
	return lease.With(func(ctx context.Context) error {
		leave()
		return lease.Unlock(ctx)
	}), nil
}

// TryLock implements lock.Locker.
func (l watched) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	return l.Lock(ctx, owner)
}

// leaves is called when a sale is about to unlock.
func (l watched) leaves() {
	s := l.sale
	ended := s.leases[0].Context().Err() != nil // for whatever reason, it was told to stop
	if len(s.leases) == 1 && s.bereft && !ended && !s.actor.Dead() {
		l.c.finds(anomaly.Untold, "%s worked on without the lock, and nothing told it", s.actor.Name)
	}
	s.leases = s.leases[:len(s.leases)-1]
}
