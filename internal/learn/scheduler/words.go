package scheduler

import "lockstep/internal/explore"

// nodesNeeded says why a lock on one Redis cannot run a schedule.
func nodesNeeded(lock string, in explore.Scenario) string {
	return in.Say("%s cannot run this schedule: it is on one Redis, and the scenario has several masters. Compare it with a lock on several.",
		"%s 跑不了这个时序：它只用一个 Redis，而这个场景有多个主节点。请和同样用多个节点的锁对比。", lock)
}
