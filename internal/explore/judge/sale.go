package judge

import (
	"time"

	"lockstep/internal/anomaly"
	"lockstep/internal/strategy"
)

// Lease is the lock, as an actor has it.
type Lease interface {
	Token() (token int64, ok bool) // the fencing token, if it has one
	IsLost() bool                  // its holder was told that the lock is lost
	IsOver() bool                  // its holder was told to end its work, for whatever reason
}

// Sale is what is known of one actor: of its sale, or the last one of its sales.
type Sale struct {
	Actor

	index  int
	owner  string  // as which it asked
	waits  bool    // for the lock
	leases []Lease // that it has, the outermost first
	leaves bool    // it gives the outermost back
	bereft bool    // while it was inside, its lock ended

	// Whose its lock is, in truth:
	since   int  // when it became the holder
	keyed   bool // it entered as the holder of the lock's key
	keeps   bool // its Unlock has made it expire sooner, and no more
	evident bool // it entered as the holder of the lock's key, or its lock ended while it was inside
	lost    bool // its lock ended, and not by its Unlock
	gave    bool // its Unlock has given it back

	place place // among those who wait
	met   bool  // something may have kept it out while it asked for the lock

	// When it began to give the lock back, and whether it had no success, and no time left for another try.
	left     time.Duration
	timedOut bool
}

// IsInside reports whether it believes, and may believe, that it holds the lock.
func (s *Sale) IsInside() bool {
	return len(s.leases) > 0 && !s.Finished() && !s.Dead() && !s.HasLossNotice()
}

// HasLossNotice reports whether it knows that its lock is lost.
func (s *Sale) HasLossNotice() bool {
	return len(s.leases) > 0 && s.leases[0].IsLost()
}

// isToStop reports whether its work was told to end, for whatever reason.
func (s *Sale) isToStop() bool { return len(s.leases) > 0 && s.leases[0].IsOver() }

// done reports whether it has no more use for a lock: it is dead, or was told, or is about to give the lock back.
func (s *Sale) done() bool { return s.Dead() || !s.waits && !s.IsInside() }

// IsUsing reports whether it has the lock, or is about to give it back.
func (s *Sale) IsUsing() bool { return s.leaves || len(s.leases) > 0 }

// isOver reports whether it has no use for a lock any more, and does not even give it back.
func (s *Sale) isOver() bool { return s.Dead() || s.Finished() || s.HasLossNotice() }

// isWaiting reports whether it has nothing to do but wait for the lock.
func (s *Sale) isWaiting() bool { return s.waits && len(s.leases) == 0 }

// recordLoss sees that its lock is not its own any more: it was given back by its own process, or not.
func (s *Sale) recordLoss(given bool) {
	switch {
	case given && s.leaves:
		s.gave = true
	case s.IsUsing():
		s.lost = true
	}
}

// Sale returns what is known of an actor's sale.
func (c *scene) Sale(actor int) *Sale { return c.sales[actor] }

// HasLease reports whether it has a lease, and has not begun to give it back.
func (s *Sale) HasLease() bool { return len(s.leases) > 0 }

// Waits reports whether it waits for the lock.
func (s *Sale) Waits() bool { return s.waits }

// HasDoneWithIt reports whether its Unlock tried as long as it could, or left the lock to an expiry that it made sooner.
func (s *Sale) HasDoneWithIt() bool { return s.timedOut || s.keeps }

// AnyInside reports whether any actor is.
func (c *scene) AnyInside() bool { return c.any((*Sale).IsInside) }

// IsContended reports whether a sale waits for a lock that another sale believes to hold.
func (c *scene) IsContended() bool { return c.any((*Sale).isWaiting) && c.AnyInside() }

// Ask sees an actor ask for the lock, as this owner.
func (c *Judge) Ask(actor int, owner string) {
	s := c.sales[actor]
	if s.waits, s.owner = true, owner; len(s.leases) > 0 {
		return
	}
	s.bereft, s.keyed, s.keeps, s.evident, s.lost, s.gave = false, false, false, false, false, false
	s.place, s.timedOut, s.met = place{}, false, false
	c.words.meet(nil)
}

// Enter sees an actor get a lease. Its lock may have been lost before it heard of it.
func (c *Judge) Enter(actor int, lease Lease) {
	s := c.sales[actor]
	if s.waits = false; len(s.leases) > 0 {
		c.order.checkNested(s, lease)
	} else {
		c.recordEntry(s)
		everybody := c.Scope == strategy.Everybody
		s.keyed = c.holder == actor
		s.bereft = everybody && !s.keyed && c.had[s.Process]
		s.lost = s.bereft
		s.evident = s.keyed || s.bereft
		if everybody && !s.evident && c.Sender == nil {
			c.unjudgeOwners()
		}
		c.order.checkToken(s, lease)
		c.order.countOvertaken(s)
	}
	s.leases = append(s.leases, lease)
}

// BeginUnlock sees an actor begin to unlock. It reports whether that is its outermost lease.
func (c *Judge) BeginUnlock(actor int) (outermost bool) {
	s := c.sales[actor]
	c.words.checkTold()
	outermost = len(s.leases) == 1
	if outermost && s.bereft && !s.isToStop() && !s.Dead() {
		c.Report(anomaly.Untold, WorksOn, s.Name)
	}
	s.leases = s.leases[:len(s.leases)-1]
	if outermost {
		s.leaves, s.left = true, c.Driver.Now()
	}
	return outermost
}
