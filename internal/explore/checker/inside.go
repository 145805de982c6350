package checker

import (
	"strings"

	"lockstep/internal/explore/anomaly"
	"lockstep/internal/lock/strategy"
)

// checkInside looks for several who believe that they hold the lock.
func (c *Checker) checkInside() {
	if c.scope == strategy.Nobody {
		return
	}
	var inside []*sale
	for _, s := range c.sales {
		if !s.inside() {
			continue
		}
		if beside := c.barredBy(s, inside); len(beside) > 0 {
			c.findInside(append(beside, s))
		}
		inside = append(inside, s)
	}
}

// barredBy returns those of the holders who keep s out.
func (c *Checker) barredBy(s *sale, holders []*sale) (beside []*sale) {
	for _, other := range holders {
		if c.scope == strategy.Everybody || other.actor.Process == s.actor.Process {
			beside = append(beside, other)
		}
	}
	return beside
}

// findInside takes down that all of these are inside.
func (c *Checker) findInside(sales []*sale) {
	var names []string
	for _, s := range sales {
		names = append(names, s.actor.Name)
	}
	last := len(names) - 1
	all := c.x.Scenario.Say("%s and %s", "%s 和 %s", strings.Join(names[:last], c.x.Scenario.Say(", ", "、")), names[last])
	if last == 1 {
		c.finds(anomaly.TwoHolders, "%s are both inside", "%s 同时在临界区里", all)
	} else {
		c.finds(anomaly.TwoHolders, "%s are inside", "%s 同时在临界区里", all)
	}
}
