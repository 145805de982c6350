package judge

import (
	"fmt"
	"slices"

	"lockstep/internal/anomaly"
	"lockstep/internal/strategy"
)

// order is in which order the lock was obtained, and with which fencing tokens.
type order struct {
	*owners
	touched map[string]int // when each process last changed what Redis holds of it
	grants  []grant        // in the order of obtaining
}

// grant is a token given to a sale that obtained the lock then.
type grant struct {
	at    int
	token int64
	ok    bool // there is a token
}

// recordChange takes down when a process changed what a server holds of the lock.
func (c *order) recordChange(what Change, by int) {
	if by == nobody || what.Before.SameTransient(what.After) {
		return
	}
	c.clock++
	c.touched[c.sales[by].Process] = c.clock
}

// obtained returns when a sale that enters obtained its lock: when it became the holder. Where that is not known, it was by the last
// change that its process made.
func (c *order) obtained(s *Sale) int {
	if s.keyed {
		return s.since
	}
	return c.touched[s.Process]
}

// checkToken looks at the token of a sale that enters.
func (c *order) checkToken(s *Sale, lease Lease) {
	if c.Scope == strategy.Nobody { // the tokens of those who are in different segments are in no order
		return
	}
	at := c.obtained(s)
	token, ok := lease.Token()
	i := slices.IndexFunc(c.grants, func(g grant) bool { return g.at > at })
	if i < 0 {
		i = len(c.grants)
	}
	for j, g := range c.grants {
		earlier, later := g.token, token
		if j >= i {
			earlier, later = token, g.token
		}
		if ok && g.ok && earlier >= later {
			c.Report(anomaly.TokenOrder, TokenNotLarger, earlier, later)
			break
		}
	}
	c.grants = slices.Insert(c.grants, i, grant{at, token, ok})
}

// isFenced reports whether a sale is paused, and another one got a larger token than it has.
func (c *order) isFenced(s *Sale) bool {
	token, ok := s.leases[0].Token()
	return ok && s.Paused() && slices.ContainsFunc(c.grants, func(g grant) bool { return g.token > token })
}

// checkNested looks at the token of a nested call.
func (c *order) checkNested(s *Sale, lease Lease) {
	outer, _ := s.leases[0].Token()
	if token, _ := lease.Token(); token != outer {
		c.Report(anomaly.TokenOrder, NestedTokenDiffers, s.Name, token, outer)
	}
}

// appendOrder writes what the order of those to come depends on.
func (c *order) appendOrder(b []byte, by Order) []byte {
	if !slices.ContainsFunc(c.grants, func(g grant) bool { return g.ok }) {
		return b
	}
	var times []int // that matter
	for _, g := range c.grants {
		times = append(times, g.at)
	}
	var coming []int // when those who have not entered became the holder, if they did, and their process's last change: see obtained
	for _, actor := range by.Actors {
		s := c.sales[actor]
		if !s.Finished() && !s.Dead() && len(s.leases) == 0 {
			since := 0
			if c.holder == actor {
				since = s.since
			}
			coming = append(coming, since, c.touched[s.Process])
		}
	}
	times = append(times, coming...)
	slices.Sort(times)
	times = slices.Compact(times)
	rank := func(at int) int { return slices.Index(times, at) }
	for _, g := range c.grants {
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

// Queue sees that an actor's command came to a server, or that it waits without one.
func (c *Judge) Queue(actor int) {
	if s := c.sales[actor]; s.waits && s.place.asked == 0 {
		c.clock++
		s.place.asked = c.clock
	}
}

// countOvertaken sees a sale enter before others that asked before it.
func (c *order) countOvertaken(s *Sale) {
	if c.Overtakes == 0 {
		return
	}
	for _, other := range c.sales {
		asked := other.waits && other.place.asked > 0 && (s.place.asked == 0 || other.place.asked < s.place.asked)
		if other == s || !asked || other.Dead() || other.Paused() {
			continue
		}
		other.place.overtaken++
		if n := other.place.overtaken; n > c.Overtakes {
			c.Report(anomaly.Starved, Overtaken, other.Name, n)
		}
	}
}

// appendPlaces writes who asked before whom.
func (c *order) appendPlaces(b []byte, o Order) []byte {
	if c.Overtakes == 0 {
		return b
	}
	for _, actor := range o.Actors {
		s := c.sales[actor]
		if !s.waits || s.place.asked == 0 || s.Dead() {
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
