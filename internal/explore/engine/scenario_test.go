package engine_test

import (
	"math"
	"testing"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/fault"
)

// The table of all locks tries each fault that any lock can meet.
func TestEveryFaultIsTried(t *testing.T) {
	tried := map[string]bool{}
	for _, s := range engine.StandardScenarios(2, false) {
		tried[s.Name] = true
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	}
	for _, f := range fault.All() {
		if tried[f.Name] == (f.OnNode || f.BreaksEveryLock) {
			t.Errorf("%s is tried: %t", f.Name, tried[f.Name])
		}
	}
}

// A scenario with a budget beyond its bound is refused.
func TestScenarioRefusesLargeBudget(t *testing.T) {
	large := fault.Budget{fault.NodeCrash: math.MaxInt, fault.NodeHang: math.MaxInt}
	if err := (engine.Scenario{Actors: 2, Faults: large}).Check(); err == nil {
		t.Errorf("%v is accepted; want that it takes 0 to %d times", large, fault.MaxTimes)
	}
}
