package checker

import (
	"strings"

	"lockstep/internal/explore/anomaly"
	"lockstep/internal/lock/strategy"
)

// checkInside looks for more who believe that they hold the lock than may.
func (c *Checker) checkInside() {
	if c.scope == strategy.Nobody {
		return
	}
	var inside []*sale
	for _, s := range c.sales {
		if !s.inside() {
			continue
		}
		if beside := c.barred(s, inside); beside != nil {
			c.findInside(append(beside, s))
		}
		inside = append(inside, s)
	}
}

// barred gives those of the holders beside whom s may not hold the lock.
func (c *Checker) barred(s *sale, holders []*sale) (beside []*sale) {
	for _, other := range holders {
		shared := s.actor.Shares()
		switch {
		case c.scope == strategy.Process && other.actor.Process != s.actor.Process, shared && other.actor.Shares():
		case shared != other.actor.Shares():
			return []*sale{other}
		default:
			beside = append(beside, other)
		}
	}
	if len(beside) < c.sharing.Most() {
		return nil
	}
	return beside
}

// findInside takes down that all of these are inside.
func (c *Checker) findInside(sales []*sale) {
	var names []string
	for _, s := range sales {
		names = append(names, s.actor.Name)
	}
	last, most := len(names)-1, c.sharing.Most()
	all := c.x.Scenario.Say("%s and %s", "%s 和 %s", strings.Join(names[:last], c.x.Scenario.Say(", ", "、")), names[last])
	switch {
	case most == 1 && last == 1:
		c.finds(anomaly.TwoHolders, "%s are both inside", "%s 同时在临界区里", all)
	case most == 1 || last < most:
		c.finds(anomaly.TwoHolders, "%s are inside", "%s 同时在临界区里", all)
	default:
		c.finds(anomaly.TwoHolders, "%s are inside, and %d may be", "%s 同时在临界区里，而最多允许 %d 个", all, most)
	}
}
