package checker

import (
	"fmt"

	"lockstep/internal/explore/anomaly"
	"lockstep/internal/explore/execution"
)

// place is where a sale is in the order of asking.
type place struct {
	asked     int // when its first command came to a server, or it began to wait without one; 0: it has not yet
	overtaken int // how often by others that asked after it
}

// WatchOrder makes the checker look for sales that are starved. It is one more thing to tell states apart by.
func (c *Checker) WatchOrder() { c.ordered = true }

// seeAsking sees an actor's command come to a server.
func (c *Checker) seeAsking(by *execution.Actor) {
	if by != nil {
		c.asked(c.sales[by.Index])
	}
}

// seeWaiting sees who waits without a command.
func (c *Checker) seeWaiting() {
	for _, s := range c.sales {
		if c.x.Queues(s.actor) {
			c.asked(s)
		}
	}
}

func (c *Checker) asked(s *sale) {
	if s.waits && s.place.asked == 0 {
		c.order.clock++
		s.place.asked = c.order.clock
	}
}

// overtakes sees a sale enter before others that asked before it.
func (c *Checker) overtakes(s *sale) {
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
			c.finds(anomaly.Starved, "%s is overtaken %d times by sales that asked after it", "%s 被后来的各单超过 %d 次", other.actor.Name, n)
		}
	}
}

// appendPlaces writes who asked before whom.
func (c *Checker) appendPlaces(b []byte, o execution.Order) []byte {
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
