package variants

import (
	"slices"

	"lockstep/internal/explore"
	"lockstep/internal/strategy"
)

// Variant is one lock in one scenario, and what is to be said of it.
type Variant struct {
	Name     string
	Lock     strategy.Strategy
	Scenario explore.Scenario // two actors, unless it says otherwise
	Shows    explore.Anomaly  // "": none, it is right
	Steps    int              // of the shortest counterexample; 0: not known yet
	Gap      Gap
}

// Gap is where the explorer is wrong.
type Gap struct {
	Today string // what it answers; "": there is no gap
	Why   string // that is wrong
}

// ByLuck is what a gap says today if the answer is not always the same.
const ByLuck = "by luck"

// Broken are the locks that show an anomaly.
func Broken() []Variant {
	return complete(textbook(), memory(), startup(), pollers(), wakeups(), queues(), reentrant(), tokens(), words(), shared(), goroutines())
}

// Right are the locks that show none.
func Right() []Variant {
	return complete(right(), rightMemory(), rightWaiting(), rightShared())
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
	var s explore.Scenario
	for _, name := range faults {
		budget := map[string]*int{
			"expiry": &s.Faults.Expiry, "slow": &s.Faults.Slow, "crash": &s.Faults.Crash, "pause": &s.Faults.Pause,
			"lost-reply": &s.Faults.LostReply, "lost-wake": &s.Faults.LostWake, "cancel": &s.Faults.Cancel,
		}
		*budget[name] = 1
	}
	return s
}
