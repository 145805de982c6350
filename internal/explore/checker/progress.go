package checker

import (
	"lockstep/internal/explore/anomaly"
	"lockstep/internal/service/reason"
)

// checkProgress looks for sales that failed although nothing went wrong: no fault has happened, and there is something left to sell. One
// that tries once may.
func (c *Checker) checkProgress() {
	if c.x.Faulted() || c.x.Cluster.Stored().Stock() == "0" {
		return
	}
	for _, s := range c.sales {
		if a := s.actor; a.Finished() && a.Err() != nil && !a.Once() && !s.lost {
			c.finds(anomaly.Progress, "%s fails, though nothing went wrong: %s", "没有任何故障，%s 却失败了：%s",
				a.Name, reason.In(c.x.Scenario.Language, a.Err().Error()))
		}
	}
}
