package checker

import (
	"slices"

	"lockstep/internal/explore/anomaly"
	"lockstep/internal/explore/execution"
)

// checkIdle looks for a lock that nobody living has, and that those who wait get when time frees it, not before. A holder that died is what
// an expiry is for.
func (c *Checker) checkIdle(transitions []execution.Transition) {
	comes := func(t execution.Transition) bool {
		return t.Progress() || t.Kind == execution.Resumes || t.Kind == execution.Arrives
	}
	if !slices.Contains(transitions, execution.Transition{Kind: execution.TimePasses}) || slices.ContainsFunc(transitions, comes) {
		return
	}
	waits := slices.IndexFunc(c.sales, func(s *sale) bool { return s.waits && len(s.leases) == 0 && !s.actor.Dead() })
	if waits >= 0 && !c.x.TimerNext() && !c.used() && c.freed() {
		c.finds(anomaly.Idle, "nobody living holds the lock, and %s waits for time to free it",
			"没有存活的一单持有锁，%s 只能等锁过期", c.sales[waits].actor.Name)
	}
}

// used reports whether a sale has something to do with the lock, beside waiting for it, or died with it, or tried as long as it could to
// give it back.
func (c *Checker) used() bool {
	if c.holder != nobody && c.sales[c.holder].actor.Dead() {
		return true
	}
	return slices.ContainsFunc(c.sales, func(s *sale) bool {
		if s.actor.Dead() {
			return s.actor.Started() && c.holder == nobody
		}
		return s.leaves || s.timedOut || len(s.leases) > 0
	})
}

// freed reports whether one of those who wait gets the lock once time has passed.
func (c *Checker) freed() bool {
	return slices.ContainsFunc(c.sales, func(s *sale) bool {
		if !s.waits || s.actor.Dead() {
			return false
		}
		later, end := c.futures.Again()
		defer end()
		later.x.Transitions()
		later.x.Apply(execution.Transition{Kind: execution.TimePasses})
		return later.lets(s.actor.Index)
	})
}
