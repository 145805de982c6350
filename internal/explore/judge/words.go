package judge

import (
	"errors"
	"slices"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// words is what locks say.
type words struct{ *owners }

// EndUnlock sees what an Unlock has said.
func (c *Judge) EndUnlock(actor int, outermost bool, err error) {
	s := c.sales[actor]
	if outermost {
		s.leaves, s.timedOut = false, err != nil && c.Driver.Now() > s.left
	}
	gone := denied(err)
	switch {
	case s.Dead() || c.Scope != strategy.Everybody:
	case err == nil && outermost && s.lost && !s.gave:
		c.Report(anomaly.FalseWord, UnlockDeniesLoss, s.Name)
	case gone != nil && !s.lost && c.words.isHeldThroughout(s):
		c.Report(anomaly.FalseWord, UnlockDeniesHold, s.Name, gone)
	}
}

// denied returns what an error of Unlock says of a lock that is not held, nil if it does not say that.
func denied(err error) error {
	for _, known := range []error{lock.ErrExpired, lock.ErrNotOwner} {
		if errors.Is(err, known) {
			return known
		}
	}
	return nil
}

// isHeldThroughout reports whether a sale whose lock is not known to be lost had it still when it unlocked.
func (c *words) isHeldThroughout(s *Sale) bool {
	past := c.Driver.Past()
	if past.Resent {
		return false // what was sent first may have given it back
	}
	return s.evident || !past.Faulted && !past.Waited
}

// checkTold looks for sales that were told that their lock is lost, though nothing went wrong.
func (c *words) checkTold() {
	for i, s := range c.sales {
		if s.HasLossNotice() && !s.lost && c.holder == i && !s.Dead() && !c.Driver.Past().Faulted {
			c.Report(anomaly.FalseWord, LossClaimed, s.Name)
		}
	}
}

// Refuse sees why an actor does not get the lock, and whether its client has gone away.
func (c *Judge) Refuse(actor int, err error, gone bool) {
	s := c.sales[actor]
	s.waits = false
	switch {
	case s.Dead():
	case errors.Is(err, lock.ErrNotObtained) && s.Once && len(s.leases) == 0 && !s.met:
		if c.Driver.Past().Faulted {
			c.Unjudge(anomaly.FalseWord) // a fault may have kept it out
		}
		c.Report(anomaly.FalseWord, HolderClaimed, s.Name)
	case errors.Is(err, lock.ErrCancelled) && !gone:
		c.Report(anomaly.FalseWord, LeaveClaimed, s.Name)
	}
}

// meet takes down, for all who ask once, whether something may keep them out: another sale, or a key of the lock's that is not their own
// doing.
func (c *words) meet(by *Sale) {
	for _, s := range c.sales {
		if !s.Once || !s.waits || s.met {
			continue
		}
		others := func(other *Sale) bool { return other != s && (other.waits || other.IsUsing()) && !other.Dead() }
		s.met = c.any(others) || by != s && slices.ContainsFunc(c.masters(), func(m *simredis.State) bool { return len(m.Transient) > 0 })
	}
}
