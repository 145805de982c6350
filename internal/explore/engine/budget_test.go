package engine_test

import (
	"math"
	"testing"

	"lockstep/internal/explore/engine"
)

// Every fault of the table has a budget of its own, which is written as it is read.
func TestFaultsAreWrittenAndRead(t *testing.T) {
	seen := map[engine.Faults]string{{}: "no fault"}
	for _, fault := range engine.AllFaults() {
		once := engine.Once(fault.Name)
		if other, known := seen[once]; known {
			t.Errorf("%s has the budget of %s", fault.Name, other)
		}
		seen[once] = fault.Name
		if again, err := engine.ParseFaults(once.String()); err != nil || again != once || once.String() != fault.Name+"=1" {
			t.Errorf("%s is written as %q, and read as %v, %v", fault.Name, once, again, err)
		}
		if once.Map()[fault.Name] != 1 || len(once.Map()) != len(engine.AllFaults()) || once.OnNodes() != fault.OnNode {
			t.Errorf("%+v: %v", fault, once.Map())
		}
	}
}

// The table of all locks tries each fault that any lock can meet.
func TestEveryFaultIsTried(t *testing.T) {
	tried := map[string]bool{}
	for _, s := range engine.All(2, false) {
		tried[s.Name] = true
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	}
	for _, fault := range engine.AllFaults() {
		if tried[fault.Name] == (fault.OnNode || fault.Beats) {
			t.Errorf("%s is tried: %t", fault.Name, tried[fault.Name])
		}
	}
}

// A budget has a bound, and many large ones together are still some.
func TestBudgetsAreBounded(t *testing.T) {
	large := engine.Faults{NodeCrash: math.MaxInt, NodeHang: math.MaxInt}
	if err := (engine.Scenario{Actors: 2, Faults: large}).Check(); err == nil || !large.OnNodes() {
		t.Errorf("%v: %v, on nodes: %t; want that it takes 0 to 100", large, err, large.OnNodes())
	}
	most := engine.Scenario{Actors: 2, Faults: engine.Faults{Expiry: engine.MaxTimes}}
	if err := most.Check(); err != nil {
		t.Error(err)
	}
}
