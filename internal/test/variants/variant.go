// Package variants has locks to test the explorer with: correct ones, broken ones, and ones that it must refuse. Only tests use it.
//
// Locks are made from the parts in process.go and strategy.go. Each other file has locks of one kind, with a table at its beginning. Begin
// with Variant and All.
package variants

import (
	"slices"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/strategy"
)

// Variant is a lock in a scenario with the expected answer of the explorer. If Steps, Refused and Unknown are zero, the expected verdict is
// that the lock holds.
type Variant struct {
	Name     string            // unique name
	Lock     strategy.Strategy // lock under test
	Scenario explore.Scenario  // scenario; Actors 0: two actors
	Anomaly  explore.Anomaly   // the only anomaly searched for; empty: all that the lock promises to prevent

	Steps    int               // length of the shortest counterexample; 0: there is none
	Refused  error             // error of the exploration; nil: none
	Unknown  string            // part of the reason for an unknown verdict; empty: the verdict is known
	Unjudged []explore.Anomaly // searched anomalies that cannot be judged
}

// All returns all variants except those of Uncontrolled.
func All() []Variant {
	return withDefaults(textbookLocks(), memoryLocks(), reentrantLocks(), fencedLocks(), waitingLocks(), notifiedLocks(), queueLocks(),
		bakeryLocks(), otherKeyLocks(), deadlineLocks(), pipelineLocks(), goroutineLocks(), refusedLocks())
}

// withDefaults joins tables, and sets the names of the locks and the default number of actors.
func withDefaults(tables ...[]Variant) []Variant {
	all := slices.Concat(tables...)
	for i := range all {
		all[i].Lock.Name = all[i].Name
		if all[i].Scenario.Actors == 0 {
			all[i].Scenario.Actors = 2
		}
	}
	return all
}

// oneOfEach returns a scenario in which each of these faults may occur once.
func oneOfEach(faults ...string) explore.Scenario {
	f, err := explore.ParseFaults(strings.Join(faults, "=1,") + "=1")
	if err != nil {
		panic(err)
	}
	return explore.Scenario{Faults: f}
}

// inOneProcess returns the scenario with that many actors, all in one process.
func inOneProcess(actors int, in explore.Scenario) explore.Scenario {
	in.Actors, in.Replicas = actors, 1
	return in
}
