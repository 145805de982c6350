package checker

import (
	"slices"

	"lockstep/internal/explore/anomaly"
	"lockstep/internal/explore/execution"
	"lockstep/internal/lock"
)

// stays reports whether something is there for ever that may be a lock: the lock's key, or any other if nobody has had the lock by that.
func (c *Checker) stays() bool {
	keyed := slices.ContainsFunc(c.sales, func(s *sale) bool { return s.keyed })
	inside := slices.ContainsFunc(c.sales, (*sale).inside)
	for _, s := range c.x.Cluster.Masters() {
		for _, k := range s.Holds.Keys {
			if k.TTL == 0 && (k.Name == lock.Key || !keyed && !inside && !k.IsShops()) {
				return true
			}
		}
	}
	return false
}

// checkFreed looks for the lock of a holder that died which stays for longer than the scenario allows.
func (c *Checker) checkFreed() {
	within := c.x.Scenario.Within
	if within == 0 || c.holder == nobody || !c.sales[c.holder].actor.Dead() {
		return
	}
	if key, has := c.x.Cluster.Locked(lock.Key); has && key.TTL > within {
		c.finds(anomaly.LeftBehind, "%s is dead, and its lock stays for %v", "%s 已崩溃，它的锁还要残留 %v", c.sales[c.holder].actor.Name, key.TTL)
	}
}

// orphaned reports whether a lock that stays is of no use to anybody. It is of use if of two who come an age later, with nobody else about,
// the first gets it and the second does not: some locks know by themselves when they expire.
func (c *Checker) orphaned() bool {
	later, end, err := c.futures.Later()
	if err != nil {
		c.x.Fail(err)
		return true
	}
	defer end()
	refused := !later.lets(0) && later.stays() // if it does not stay, it has been given an expiry
	both := later.lets(1)
	if err := later.x.Err(); err != nil {
		c.x.Fail(err)
	}
	return refused || both
}

// lets reports whether an actor gets the lock by moves of its own.
func (c *Checker) lets(actor int) bool {
	s := c.sales[actor]
	itsOwn := func(t execution.Transition) bool { return t.Kind == execution.Moves && c.x.Actor(t) == s.actor }
	return leads(c.x, itsOwn, func() bool { return len(s.leases) > 0 })
}
