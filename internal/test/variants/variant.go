// Package variants has locks that the explorer has to judge: broken ones, right ones, and ones that it has to refuse. Only tests use it.
//
// A lock is made of the parts in process.go and strategy.go. Each other file has locks of one kind, with a table in front.
package variants

import (
	"slices"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/strategy"
)

// Variant is a lock in a scenario, and what the explorer has to answer. A Variant with none of Steps, Refused and Unknown holds.
type Variant struct {
	Name     string
	Lock     strategy.Strategy
	Scenario explore.Scenario // two actors, unless it says otherwise
	Anomaly  explore.Anomaly  // the only one looked for; "": all that the lock promises to prevent

	Steps    int               // length of the shortest counterexample; 0: there is none
	Refused  error             // what exploring fails with; nil: it does not fail
	Unknown  string            // why the verdict is unknown: a part of the answer; "": the verdict is known
	Unjudged []explore.Anomaly // those of the anomalies looked for that cannot be judged
}

// All returns the variants but for Unruly's.
func All() []Variant {
	return complete(textbookLocks(), memoryLocks(), reentrantLocks(), fencedLocks(), waitingLocks(), notifiedLocks(), queueLocks(),
		bakeryLocks(), placedLocks(), deadlineLocks(), pipelineLocks(), goroutineLocks(), refusedLocks())
}

// complete sets what goes without saying.
func complete(tables ...[]Variant) []Variant {
	all := slices.Concat(tables...)
	for i := range all {
		all[i].Lock.Name = all[i].Name
		if all[i].Scenario.Actors == 0 {
			all[i].Scenario.Actors = 2
		}
	}
	return all
}

// once returns a scenario in which each of these faults may happen once.
func once(faults ...string) explore.Scenario {
	f, err := explore.ParseFaults(strings.Join(faults, "=1,") + "=1")
	if err != nil {
		panic(err)
	}
	return explore.Scenario{Faults: f}
}

// inOneProcess returns the scenario with so many actors, all of them in one process.
func inOneProcess(actors int, in explore.Scenario) explore.Scenario {
	in.Actors, in.Replicas = actors, 1
	return in
}
