package checker

import (
	"slices"

	"lockstep/internal/explore/execution"
)

// patience is how many moves a newcomer has to get the lock.
const patience = 100

// orphaned reports whether a lock that stays is of no use to anybody. It is, if of two who come an age later, with nobody else about, one
// gets it and the other does not: some locks know by themselves when they expire.
func (c *Checker) orphaned() bool {
	later, end, err := c.futures.Later()
	if err != nil {
		c.x.Fail(err)
		return true
	}
	defer end()
	orphaned := !later.lets(0) || later.lets(1)
	if err := later.x.Err(); err != nil {
		c.x.Fail(err)
	}
	return orphaned
}

// lets reports whether an actor gets the lock by moves of its own.
func (c *Checker) lets(actor int) bool {
	s := c.sales[actor]
	for range patience {
		transitions := c.x.Transitions()
		i := slices.IndexFunc(transitions, func(t execution.Transition) bool {
			return t.Kind == execution.Moves && c.x.Actor(t) == s.actor
		})
		if i < 0 || len(s.leases) > 0 {
			break
		}
		c.x.Apply(transitions[i])
	}
	return len(s.leases) > 0
}
