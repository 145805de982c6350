package engine_test

import (
	"math"
	"testing"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/fault"
)

// The table of all locks tries each fault, except for those of nodes and those that break every lock.
func TestStandardScenariosTryEveryFault(t *testing.T) {
	tried := map[string]bool{}
	for _, s := range engine.StandardScenarios(2, false) {
		tried[s.Name] = true
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	}
	for _, f := range fault.All() {
		if tried[f.Name] == (f.OnNode || f.BreaksEveryLock) {
			t.Errorf("%s is tried: %t; want %t", f.Name, tried[f.Name], !f.OnNode && !f.BreaksEveryLock)
		}
	}
}

// A fault budget above fault.MaxTimes is refused.
func TestScenarioRefusesLargeBudget(t *testing.T) {
	large := fault.Budget{fault.NodeCrash: math.MaxInt, fault.NodeHang: math.MaxInt}
	if err := (engine.Scenario{Actors: 2, Faults: large}).Check(); err == nil {
		t.Errorf("Check accepts the budget %v; want an error: more than %d times", large, fault.MaxTimes)
	}
}
