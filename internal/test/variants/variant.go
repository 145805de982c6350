package variants

import (
	"slices"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/lock/strategy"
)

// Variant is one lock in one scenario, and what is to be said of it.
type Variant struct {
	Name     string
	Lock     strategy.Strategy
	Scenario explore.Scenario // two actors, unless it says otherwise
	Shows    explore.Anomaly  // "": none, it is right
	Steps    int              // of the shortest counterexample; 0: not known yet. Beside a gap it is an estimate
	Gap      Gap
}

// Gap is where the explorer is wrong.
type Gap struct {
	Today string // what it answers; "": there is no gap
	Why   string // that is wrong
	Luck  bool   // it answers rightly at times
}

// Broken are the locks that show an anomaly.
func Broken() []Variant {
	return complete(textbook(), memory(), startup(), pollers(), wakeups(), queues(), reentrant(),
		tokens(), words(), elsewhere(), goroutines(), pipelines(), wrongTurns(), registers(), sleepers(), expiries(), sessions(),
		masters(), leftovers(), owners())
}

// Right are the locks that show none.
func Right() []Variant {
	return complete(right(), rightMemory(), rightWaiting(), rightElsewhere(), rightPipelines(), rightTurns(), rightRegisters(),
		rightSleepers(), rightExpiries(), rightTokens(), rightGoroutines(), rightSessions(),
		rightMasters(), rightLeftovers(), rightOwners())
}

// complete fills in what goes without saying.
func complete(kinds ...[]Variant) []Variant {
	all := slices.Concat(kinds...)
	for i := range all {
		all[i].Lock.Name = all[i].Name
		if all[i].Scenario.Actors == 0 {
			all[i].Scenario.Actors = 2
		}
	}
	return all
}

// once is a scenario with these faults, each of which may happen once.
func once(faults ...string) explore.Scenario {
	f, err := explore.ParseFaults(strings.Join(faults, "=1,") + "=1")
	if err != nil {
		panic(err)
	}
	return explore.Scenario{Faults: f}
}
