package checker

import (
	"slices"
	"time"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock/anomaly"
)

// checkIdle looks for a lock that nobody living has, and that those who wait get when time frees it, not before. A holder that died is what
// an expiry is for.
func (c *Checker) checkIdle(transitions []engine.Transition) {
	if !onlyTime(transitions) {
		return
	}
	waits := slices.IndexFunc(c.sales, func(s *sale) bool { return s.waits && len(s.leases) == 0 && !s.actor.Dead() })
	if waits >= 0 && !c.x.TimerNext() && !c.used() && c.freed() {
		c.report(anomaly.Idle, "nobody living holds the lock, and %s waits for time to free it",
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
		later.x.Apply(engine.Transition{Kind: engine.TimePasses})
		return later.canObtain(s.actor.Index)
	})
}

// mayWait is how long a waiter may sleep although the lock is free: one who waits for messages asks by itself after some time, as a message
// may get lost.
const mayWait = engine.TTL / 4

// checkAsleep looks, when only time can pass, for a waiter that sleeps on for longer than it may, though the lock is free.
func (c *Checker) checkAsleep(transitions []engine.Transition) {
	has := func(s *sale) bool { return !s.actor.Dead() && (s.leaves || len(s.leases) > 0) }
	if !onlyTime(transitions) || slices.ContainsFunc(c.sales, has) {
		return
	}
	until := c.x.Now() + mayWait
	for _, s := range c.sales {
		if !s.waits || s.actor.Dead() {
			continue
		}
		if why, due := c.x.Standstill(s.actor); why == engine.WaitsForTime && due > until && c.free() && c.isIdleUntil(until) {
			c.report(anomaly.Idle, "the lock is free, and %s sleeps for another %v", "锁空闲着，%s 还要再睡 %v", s.actor.Name, due-c.x.Now())
			return
		}
	}
}

func onlyTime(transitions []engine.Transition) bool {
	comes := func(t engine.Transition) bool {
		return t.Progress() || t.Kind == engine.Resumes || t.Kind == engine.Arrives
	}
	return slices.Contains(transitions, engine.Transition{Kind: engine.TimePasses}) && !slices.ContainsFunc(transitions, comes)
}

// free reports whether a newcomer would get the lock at once.
func (c *Checker) free() bool { return c.obtainable(c.x.Cluster.Contents(), c.x.Now(), trying) }

// obtainable reports whether one of the newcomers would have got the lock at once when the servers held this.
func (c *Checker) obtainable(held []*simredis.State, at time.Duration, newcomer int) bool {
	newcomers, end, err := c.futures.Newcomers(held, at, 0)
	if err != nil {
		return false
	}
	defer end()
	return newcomers.canObtain(newcomer) && newcomers.x.Err() == nil
}

// isIdleUntil reports whether nobody gets the lock until then, and somebody does afterwards.
func (c *Checker) isIdleUntil(until time.Duration) bool {
	copied, end := c.futures.Again()
	defer end()
	x := copied.x
	inside := func() bool { return slices.ContainsFunc(copied.sales, (*sale).inside) }
	for range patience {
		next := withoutFaults(x)
		i := slices.IndexFunc(next, func(t engine.Transition) bool {
			return t.Kind != engine.TimePasses && t.Kind != engine.PollsOn
		})
		if i < 0 {
			i = slices.Index(next, engine.Transition{Kind: engine.TimePasses})
		}
		if i < 0 {
			return false
		}
		if x.Apply(next[i]); inside() {
			return x.Now() > until
		}
	}
	return false
}
