package checker

import (
	"errors"
	"slices"
	"time"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/strategy"
)

// words is what locks say.
type words struct {
	*owners
	refused []*sale // in this step, by the word that another one has the lock
}

// EndUnlock sees what an Unlock has said.
func (c *words) EndUnlock(actor int, outermost bool, err error) {
	s := c.sales[actor]
	if outermost {
		s.leaves, s.timedOut = false, err != nil && c.Now() > s.left
	}
	s.spoiled = s.spoiled || err != nil
	gone := denied(err)
	switch {
	case s.Dead() || c.Scope != strategy.Everybody:
	case err == nil && outermost && s.lost && !s.gave:
		c.Report(anomaly.FalseWord, UnlockDeniesLoss, s.Name)
	case gone != nil && !s.lost && c.isHeldThroughout(s):
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
func (c *words) isHeldThroughout(s *sale) bool {
	past := c.Past()
	if past.Resent {
		return false // what was sent first may have given it back
	}
	return s.evident || !past.Faulted && !past.Waited
}

// checkTold looks for sales that were told that their lock is lost, though nothing went wrong.
func (c *words) checkTold() {
	for i, s := range c.sales {
		if s.hasLossNotice() && !s.lost && c.holder == i && !s.Dead() && !c.Past().Faulted {
			c.Report(anomaly.FalseWord, LossClaimed, s.Name)
		}
	}
}

// Refuse sees why an actor does not get the lock, and whether its client has gone away.
func (c *words) Refuse(actor int, err error, gone bool) {
	s := c.sales[actor]
	s.waits = false
	switch {
	case s.Dead():
	case errors.Is(err, lock.ErrNotObtained) && s.Once && len(s.leases) == 0 && !s.met:
		c.refused = append(c.refused, s)
	case errors.Is(err, lock.ErrCancelled) && !gone:
		c.Report(anomaly.FalseWord, LeaveClaimed, s.Name)
	}
}

// checkRefused looks at those who were just told that another one has the lock, and met nobody. If something may have been left behind, by
// one that failed, the lock has to have been free as long as they asked.
func (c *words) checkRefused() {
	for _, s := range c.refused {
		blocked := func(m moment) bool { return !c.Obtainable(m.held, m.at) }
		if !s.leftovers || !slices.ContainsFunc(s.moments, blocked) {
			c.Report(anomaly.FalseWord, HolderClaimed, s.Name)
		}
	}
	c.refused = nil
}

// moment is what the servers held at some time.
type moment struct {
	held []*simredis.State
	at   time.Duration
}

// markContenders takes down for all who ask once whether another one has something to do with the lock, or has left something; and how the
// lock was meanwhile, but for what they do to it themselves.
func (c *words) markContenders(by *sale) {
	for _, s := range c.sales {
		if !s.waits || !s.Once || s.met {
			continue
		}
		if s.met = c.hasContender(s); s.met {
			s.moments = nil
			continue
		}
		s.leftovers = s.leftovers || c.mayBlock(s)
		if by == nil || by.Process != s.Process || len(s.moments) == 0 {
			s.moments = append(s.moments, moment{c.Contents(), c.Now()})
		}
	}
}

// hasContender reports whether another sale asks for the lock, or has it.
func (c *words) hasContender(s *sale) bool {
	key, held := c.locked()
	tells := c.holder != nobody || key.IsString() && !c.on[0].counts
	if held && tells && c.holder != s.index {
		return true
	}
	return c.any(func(other *sale) bool { return other != s && (other.waits || other.isUsing()) && !other.Dead() })
}

// mayBlock reports whether another sale may have left something behind that keeps one out.
func (c *words) mayBlock(s *sale) bool {
	_, held := c.locked()
	return held && c.holder != s.index || c.any(func(other *sale) bool {
		return other != s && (other.spoiled || other.Started() && other.Dead() || other.Finished() && other.Err() != nil)
	})
}

// appendMoments writes how the lock was while those asked who may be told that it was another's.
func (c *words) appendMoments(b []byte, o Order) []byte {
	for _, actor := range o.Actors {
		if s := c.sales[actor]; s.waits && s.leftovers && !s.Dead() {
			for _, m := range s.moments {
				for _, held := range m.held {
					b = append(append(b, '|'), held.Text...)
				}
			}
		}
	}
	return b
}
