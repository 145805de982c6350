package checker

import (
	"context"
	"errors"
	"slices"
	"time"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/service/reason"
)

// checkUnlock looks at what an Unlock has said.
func (c *Checker) checkUnlock(s *sale, outermost bool, err error) {
	if outermost {
		s.leaves, s.timedOut = false, err != nil && c.x.Now() > s.left
	}
	s.spoiled = s.spoiled || err != nil
	gone := errors.Is(err, lock.ErrExpired) || errors.Is(err, lock.ErrNotOwner)
	switch {
	case s.actor.Dead() || c.scope != strategy.Everybody:
	case err == nil && outermost && s.lost && !s.gave:
		c.report(anomaly.FalseWord, "%s's Unlock says that it gave the lock back, which was lost before",
			"%s 的 Unlock 说锁已释放，其实锁早就丢了", s.actor.Name)
	case gone && !s.lost && c.isHeldThroughout(s):
		c.report(anomaly.FalseWord, "%s's Unlock says %q, though the lock was held to the end",
			"%s 的 Unlock 报错“%s”，其实它一直持有锁", s.actor.Name,
			reason.InShort(c.x.Scenario.Language, err, lock.ErrExpired, lock.ErrNotOwner))
	}
}

// isHeldThroughout reports whether a sale whose lock is not known to be lost had it still when it unlocked.
func (c *Checker) isHeldThroughout(s *sale) bool {
	if c.x.Took(engine.Resends) {
		return false // what was sent first may have given it back
	}
	return s.evident || !c.x.Faulted() && !c.x.Took(engine.TimePasses)
}

// checkTold looks for sales that were told that their lock is lost, though nothing went wrong.
func (c *Checker) checkTold() {
	for i, s := range c.sales {
		if s.hasLossNotice() && !s.lost && c.holder == i && !s.actor.Dead() && !c.x.Faulted() {
			c.report(anomaly.FalseWord, "%s is told that it lost the lock, and has it still", "%s 得知自己丢了锁，其实锁还在它手里", s.actor.Name)
		}
	}
}

// checkRefusal looks at why a sale does not get the lock.
func (c *Checker) checkRefusal(ctx context.Context, s *sale, err error) {
	switch {
	case s.actor.Dead():
	case errors.Is(err, lock.ErrNotObtained) && s.actor.Once() && len(s.leases) == 0 && !s.met:
		c.refused = append(c.refused, s)
	case errors.Is(err, lock.ErrCancelled) && ctx.Err() == nil:
		c.report(anomaly.FalseWord, "%s is told that its client went away, and it did not",
			"%s 得知客户端已断开，其实没有断开", s.actor.Name)
	}
}

// checkRefused looks at those who were just told that another one has the lock, and met nobody. If something may have been left behind, by
// one that failed, the lock has to have been free as long as they asked.
func (c *Checker) checkRefused() {
	for _, s := range c.refused {
		free := func(m moment) bool { return c.obtainable(m.held, m.at, waiting) }
		if !s.leftovers || !slices.ContainsFunc(s.moments, func(m moment) bool { return !free(m) }) {
			c.report(anomaly.FalseWord, "%s is told that another one has the lock, and nobody has it",
				"%s 得知锁被别人持有，其实没有谁持有锁", s.actor.Name)
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
func (c *Checker) markContenders(by *engine.Actor) {
	for _, s := range c.sales {
		if !s.waits || !s.actor.Once() || s.met {
			continue
		}
		if s.met = c.hasContender(s); s.met {
			s.moments = nil
			continue
		}
		s.leftovers = s.leftovers || c.mayBlock(s)
		if by == nil || by.Process != s.actor.Process || len(s.moments) == 0 {
			s.moments = append(s.moments, moment{c.x.Cluster.Contents(), c.x.Now()})
		}
	}
}

// hasContender reports whether another sale asks for the lock, or has it.
func (c *Checker) hasContender(s *sale) bool {
	key, held := c.x.Cluster.Locked(lock.Key)
	tells := c.holder != nobody || key.IsString() && !c.owners[0].counts
	if held && tells && c.holder != s.actor.Index {
		return true
	}
	return slices.ContainsFunc(c.sales, func(other *sale) bool {
		return other != s && (other.waits || other.leaves || len(other.leases) > 0) && !other.actor.Dead()
	})
}

// mayBlock reports whether another sale may have left something behind that keeps one out.
func (c *Checker) mayBlock(s *sale) bool {
	_, held := c.x.Cluster.Locked(lock.Key)
	return held && c.holder != s.actor.Index || slices.ContainsFunc(c.sales, func(other *sale) bool {
		a := other.actor
		return other != s && (other.spoiled || a.Started() && a.Dead() || a.Finished() && a.Err() != nil)
	})
}

// appendMoments writes how the lock was while those asked who may be told that it was another's.
func (c *Checker) appendMoments(b []byte, o engine.Order) []byte {
	for _, actor := range o.Actors {
		if s := c.sales[actor]; s.waits && s.leftovers && !s.actor.Dead() {
			for _, m := range s.moments {
				for _, held := range m.held {
					b = append(append(b, '|'), held.Text...)
				}
			}
		}
	}
	return b
}
