package checker

import (
	"fmt"
	"slices"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
)

// order is in which order the lock was obtained, and with which fencing tokens.
type order struct {
	clock   int                     // counts what has changed of the lock
	touched map[*engine.Process]int // when each process last changed what Redis holds of it
	grants  []grant                 // in the order of obtaining
}

// grant is a token given to a sale that obtained the lock then.
type grant struct {
	at    int
	token int64
}

// recordChange takes down when a process changed what a server holds of the lock.
func (c *Checker) recordChange(before, after *simredis.State, by *engine.Actor) {
	if by == nil || before.SameLocks(after) {
		return
	}
	c.order.clock++
	c.order.touched[by.Process] = c.order.clock
}

// obtained returns when a sale that enters obtained its lock: when it became the holder. Where that is not known, it was by the last
// change that its process made.
func (c *Checker) obtained(s *sale) int {
	if s.keyed {
		return s.since
	}
	return c.order.touched[s.actor.Process]
}

// checkToken looks at the token of a sale that enters.
func (c *Checker) checkToken(s *sale, lease *lock.Lease) {
	at, token := c.obtained(s), lease.Token()
	i := slices.IndexFunc(c.order.grants, func(g grant) bool { return g.at > at })
	if i < 0 {
		i = len(c.order.grants)
	}
	for j, g := range c.order.grants {
		earlier, later := g.token, token
		if j >= i {
			earlier, later = token, g.token
		}
		if token > 0 && g.token > 0 && earlier >= later {
			c.report(anomaly.TokenOrder, "a holder has token %d, and a later one %d", "一个持有者的令牌是 %d，后来的持有者却是 %d", earlier, later)
			break
		}
	}
	c.order.grants = slices.Insert(c.order.grants, i, grant{at, token})
}

// checkNested looks at the token of a nested call.
func (c *Checker) checkNested(s *sale, lease *lock.Lease) {
	if outer := s.leases[0].Token(); lease.Token() != outer {
		c.report(anomaly.TokenOrder, "%s's nested call has token %d, and its outer one %d",
			"%s 的嵌套调用的令牌是 %d，外层的却是 %d", s.actor.Name, lease.Token(), outer)
	}
}

// appendOrder writes what the order of those to come depends on.
func (c *Checker) appendOrder(b []byte, by engine.Order) []byte {
	o := c.order
	if !slices.ContainsFunc(o.grants, func(g grant) bool { return g.token > 0 }) {
		return b
	}
	var times []int // that matter
	for _, g := range o.grants {
		times = append(times, g.at)
	}
	var coming []int // when those who have not entered became the holder, if they did, and their process's last change: see obtained
	for _, actor := range by.Actors {
		s := c.sales[actor]
		if !s.actor.Finished() && !s.actor.Dead() && len(s.leases) == 0 {
			since := 0
			if c.holder == actor {
				since = s.since
			}
			coming = append(coming, since, o.touched[s.actor.Process])
		}
	}
	times = append(times, coming...)
	slices.Sort(times)
	times = slices.Compact(times)
	rank := func(at int) int { return slices.Index(times, at) }
	for _, g := range o.grants {
		b = fmt.Appendf(b, "|%d %d", g.token, rank(g.at))
	}
	for _, at := range coming {
		b = fmt.Appendf(b, "|%d", rank(at))
	}
	return b
}

// place is where a sale is in the order of asking.
type place struct {
	asked     int // when its first command came to a server, or it began to wait without one; 0: it has not yet
	overtaken int // how often by others that asked after it
}

// WatchOrder makes the checker look for sales that are starved. It is one more thing to tell states apart by.
func (c *Checker) WatchOrder() { c.ordered = true }

// enqueue sees that a sale's command came to a server, or that it waits without one.
func (c *Checker) enqueue(s *sale) {
	if s.waits && s.place.asked == 0 {
		c.order.clock++
		s.place.asked = c.order.clock
	}
}

// countOvertaken sees a sale enter before others that asked before it.
func (c *Checker) countOvertaken(s *sale) {
	if !c.ordered {
		return
	}
	for _, other := range c.sales {
		asked := other.waits && other.place.asked > 0 && (s.place.asked == 0 || other.place.asked < s.place.asked)
		if other == s || !asked || other.actor.Dead() || other.actor.Paused() {
			continue
		}
		other.place.overtaken++
		if n := other.place.overtaken; n > c.x.Scenario.MostOvertakes() {
			c.report(anomaly.Starved, "%s is overtaken %d times by sales that asked after it", "%s 被后来的请求插队 %d 次", other.actor.Name, n)
		}
	}
}

// appendPlaces writes who asked before whom.
func (c *Checker) appendPlaces(b []byte, o engine.Order) []byte {
	if !c.ordered {
		return b
	}
	for _, actor := range o.Actors {
		s := c.sales[actor]
		if !s.waits || s.place.asked == 0 || s.actor.Dead() {
			b = append(b, "|-"...)
			continue
		}
		before := 0
		for _, other := range c.sales {
			if other.waits && other.place.asked > 0 && other.place.asked < s.place.asked {
				before++
			}
		}
		b = fmt.Appendf(b, "|%d %d", before, s.place.overtaken)
	}
	return b
}
