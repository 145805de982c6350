package checker

import (
	"fmt"
	"strings"

	"lockstep/internal/explore/anomaly"
	"lockstep/internal/strategy"
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
			c.finds(anomaly.TwoHolders, "%s", allInside(append(beside, s), c.sharing.Most()))
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

func allInside(sales []*sale, most int) string {
	var names []string
	for _, s := range sales {
		names = append(names, s.actor.Name)
	}
	last := len(names) - 1
	switch says := strings.Join(names[:last], ", ") + " and " + names[last]; {
	case most == 1 && last == 1:
		return says + " are both inside"
	case most == 1 || last < most:
		return says + " are inside"
	default:
		return fmt.Sprintf("%s are inside, and %d may be", says, most)
	}
}
