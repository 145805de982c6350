package checker

import (
	"slices"

	"lockstep/internal/explore/engine"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
)

// hasRemains reports whether something is there for ever that may be a lock: the lock's key, or any other if nobody has had the lock by
// that.
func (c *Checker) hasRemains() bool {
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
		c.report(anomaly.LeftBehind, "%s is dead, and its lock stays for %v", "%s 已崩溃，它的锁还要残留 %v", c.sales[c.holder].actor.Name, key.TTL)
	}
}

// orphaned reports whether a lock that stays is of no use to anybody: one who comes an age later, with nobody else about, and waits until
// every expiry has come twice, does not get it. What a lock leaves that knows by itself when it expires, or whose keys are registers that
// stay, keeps nobody out. Nor does one that keeps nobody out at all: then a second one gets the key of the first.
func (c *Checker) orphaned() bool {
	later, end, err := c.futures.Newcomers(c.x.Cluster.Contents(), c.x.Now(), engine.Forever)
	if err != nil {
		c.x.Fail(err)
		return true
	}
	defer end()
	refused := !later.obtainsInTime(waiting) && later.hasRemains() // if it does not stay, it has been given an expiry
	key, stays := c.x.Cluster.Locked(lock.Key)
	both := stays && key.IsString() && later.canObtain(trying)
	// its code knows those who come by their names, or when it is time
	if later.x.Err() != nil || refused && later.obtainsEventually(waiting) {
		c.undecided = true
		return false
	}
	return refused || both
}

// obtainsInTime reports whether an actor gets the lock before every expiry has come twice, though others have not begun.
func (c *Checker) obtainsInTime(actor int) bool {
	for until := expired(c.x); !c.canObtain(actor); {
		if c.x.Now() >= until {
			return false
		}
		c.x.Apply(engine.Transition{Kind: engine.TimePasses})
	}
	return true
}

// obtainsEventually reports whether an actor that looks at a clock gets the lock after a time that nothing in Redis tells.
func (c *Checker) obtainsEventually(actor int) bool {
	for d := 2 * engine.TTL; c.x.IsReading() && d < engine.Forever; d *= 2 {
		if c.x.AdvanceBy(d); c.canObtain(actor) {
			return true
		}
	}
	return false
}

// canObtain reports whether an actor gets the lock by moves of its own.
func (c *Checker) canObtain(actor int) bool {
	s := c.sales[actor]
	itsOwn := func(t engine.Transition) bool { return t.Kind == engine.Moves && c.x.Actor(t) == s.actor }
	return leads(c.x, itsOwn, func() bool { return len(s.leases) > 0 })
}
