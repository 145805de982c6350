package judge

import (
	"fmt"
	"slices"

	"lockstep/internal/anomaly"
	"lockstep/internal/strategy"
)

// orderChecker judges the order in which actors obtained the lock, and their fencing tokens. It also counts how often waiters are
// overtaken.
type orderChecker struct {
	*ownerTracker
	lastChange map[string]int // logical time at which each process last changed a key of the lock
	grants     []grant        // grants so far, sorted by obtainedAt
}

// grant is the fencing token of a sale that obtained the lock.
type grant struct {
	obtainedAt int   // logical time at which the sale obtained the lock
	token      int64 // fencing token, if hasToken
	hasToken   bool  // the lock has fencing tokens
}

// recordProcessChange records the time at which a process changes a key of the lock on a server.
func (c *orderChecker) recordProcessChange(change Change, by int) {
	if by == nobody || change.Before.SameTransient(change.After) {
		return
	}
	c.clock++
	c.lastChange[c.sales[by].Process] = c.clock
}

// obtainedAt returns the logical time at which an entering sale obtained its lock: when it became the holder, or, if that is unknown, when
// its process last changed a key of the lock.
func (c *orderChecker) obtainedAt(s *Sale) int {
	if s.enteredAsHolder {
		return s.holderSince
	}
	return c.lastChange[s.Process]
}

// checkToken compares the token of an entering sale with the tokens of earlier and later holders.
func (c *orderChecker) checkToken(s *Sale, lease Lease) {
	if c.Scope == strategy.Nobody { // tokens of different segments have no order
		return
	}
	obtainedAt := c.obtainedAt(s)
	token, hasToken := lease.Token()
	i := slices.IndexFunc(c.grants, func(g grant) bool { return g.obtainedAt > obtainedAt })
	if i < 0 {
		i = len(c.grants)
	}
	for k, g := range c.grants {
		earlier, later := g.token, token
		if k >= i {
			earlier, later = token, g.token
		}
		if hasToken && g.hasToken && earlier >= later {
			c.Report(anomaly.TokenOrder, TokenNotLarger, earlier, later)
			break
		}
	}
	c.grants = slices.Insert(c.grants, i, grant{obtainedAt, token, hasToken})
}

// isFenced reports whether a sale is paused and another sale has a larger token.
func (c *orderChecker) isFenced(s *Sale) bool {
	token, ok := s.leases[0].Token()
	return ok && s.Paused() && slices.ContainsFunc(c.grants, func(g grant) bool { return g.token > token })
}

// checkNested compares the token of a nested lease with that of the outermost one.
func (c *orderChecker) checkNested(s *Sale, lease Lease) {
	outer, _ := s.leases[0].Token()
	if token, _ := lease.Token(); token != outer {
		c.Report(anomaly.TokenOrder, NestedTokenDiffers, s.Name, token, outer)
	}
}

// appendGrants appends the data on which later comparisons of tokens depend: the tokens so far, and the relative order of the times that
// matter.
func (c *orderChecker) appendGrants(b []byte, order ActorOrder) []byte {
	if !slices.ContainsFunc(c.grants, func(g grant) bool { return g.hasToken }) {
		return b
	}
	var times []int
	for _, g := range c.grants {
		times = append(times, g.obtainedAt)
	}
	var future []int // candidates for obtainedAt of each sale that has not entered: its own time as holder, and its process's last change
	for _, actor := range order.Actors {
		s := c.sales[actor]
		if !s.Finished() && !s.Dead() && len(s.leases) == 0 {
			since := 0
			if c.holder == actor {
				since = s.holderSince
			}
			future = append(future, since, c.lastChange[s.Process])
		}
	}
	times = append(times, future...)
	slices.Sort(times)
	times = slices.Compact(times)
	rank := func(time int) int { return slices.Index(times, time) }
	for _, g := range c.grants {
		b = fmt.Appendf(b, "|%d %d", g.token, rank(g.obtainedAt))
	}
	for _, time := range future {
		b = fmt.Appendf(b, "|%d", rank(time))
	}
	return b
}

// queuePosition is the position of a sale in the order in which sales asked for the lock.
type queuePosition struct {
	queuedAt  int // logical time at which the sale's first command reached a server, or the sale began to wait without a command; 0: not yet
	overtaken int // number of sales that asked later and entered first
}

// RecordQueueing records that a command of an actor reached a server, or that the actor waits without sending one.
func (j *Judge) RecordQueueing(actor int) {
	if s := j.sales[actor]; s.waiting && s.position.queuedAt == 0 {
		j.clock++
		s.position.queuedAt = j.clock
	}
}

// countOvertakes counts the sales that an entering sale overtakes: those that asked before it and still wait.
func (c *orderChecker) countOvertakes(s *Sale) {
	if c.MaxOvertakes == 0 {
		return
	}
	for _, other := range c.sales {
		askedBefore := other.waiting && other.position.queuedAt > 0 &&
			(s.position.queuedAt == 0 || other.position.queuedAt < s.position.queuedAt)
		if other == s || !askedBefore || other.Dead() || other.Paused() {
			continue
		}
		other.position.overtaken++
		if n := other.position.overtaken; n > c.MaxOvertakes {
			c.Report(anomaly.Starved, SaleOvertaken, other.Name, n)
		}
	}
}

// appendQueue appends the order in which the waiting sales asked, and how often each was overtaken.
func (c *orderChecker) appendQueue(b []byte, order ActorOrder) []byte {
	if c.MaxOvertakes == 0 {
		return b
	}
	for _, actor := range order.Actors {
		s := c.sales[actor]
		if !s.waiting || s.position.queuedAt == 0 || s.Dead() {
			b = append(b, "|-"...)
			continue
		}
		ahead := 0
		for _, other := range c.sales {
			if other.waiting && other.position.queuedAt > 0 && other.position.queuedAt < s.position.queuedAt {
				ahead++
			}
		}
		b = fmt.Appendf(b, "|%d %d", ahead, s.position.overtaken)
	}
	return b
}
