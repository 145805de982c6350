package explore_test

import (
	"fmt"
	"slices"
	"testing"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/strategy"
	"lockstep/internal/test/suite"
)

// What is left out because it is known already changes neither what is found nor how short it is. Without the cuts a search often has no
// end: then what is compared are the schedules up to the length that it has seen all of. With them, as many schedules reach as far.
func TestTheCutsAreSound(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes under the race detector, and has no more goroutines than the other tests")
	}
	schedules, strategies := 250, []strategy.Strategy{find(t, "v4")}
	if suite.Long {
		schedules, strategies = 400, evolution.Table()
	}
	for _, strategy := range append(strategies, locker(piped)) {
		switch strategy.Name {
		case "delex", "late-commit", "lua-setnx", "v8":
			continue // what is cut of v4, v2 and v9 is cut of them
		}
		if strategy.OnNodes {
			continue // TestNodesAreAlike
		}
		beating := explore.NamedScenario{Name: "rollback, evict", Scenario: faultsOfTwo("rollback=1,evict=1")}
		for _, scenario := range append(explore.Scenarios(2), beating) {
			if scenario.Work > 0 && strategy.Capabilities.Renewed {
				continue // renewals make schedules so long that none of as many shows anything
			}
			t.Run(strategy.Name+" "+scenario.Name, func(t *testing.T) {
				whole := explore.Bounds{EveryState: true, EverySymmetry: true, Schedules: schedules}
				same(t, strategy, scenario.Scenario, explore.Bounds{Schedules: schedules}, whole)
			})
		}
	}
}

// same sees that two explorations find the same, up to the length that both have seen all of.
func same(t *testing.T, s strategy.Strategy, in explore.Scenario, bounds, others explore.Bounds) {
	t.Helper()
	look := func(bounds explore.Bounds) explore.Result {
		result, err := explore.Explore(t.Context(), s, in, explore.Goal{All: true}, bounds)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	cut, whole := look(bounds), look(others)
	length := whole.Depth
	if whole.Complete {
		length = max(cut.Depth, whole.Depth) + 1
	}
	if !cut.Complete && (whole.Complete || cut.Depth < whole.Depth) {
		t.Fatalf("with the cuts, %d schedules are as long as %d steps; without, as %d", cut.Schedules, cut.Depth, whole.Depth)
	}
	if with, without := upTo(length, cut), upTo(length, whole); with != without {
		t.Errorf("up to %d steps, with the cuts: %s; without: %s", length, with, without)
	}
	t.Logf("up to %d steps: %s; %d schedules, without the cuts %d", length, upTo(length, cut), cut.Schedules, whole.Schedules)
}

// upTo is what was found in schedules up to a length.
func upTo(length int, result explore.Result) string {
	found := []string{}
	for _, e := range result.Found {
		if e.Length() <= length {
			found = append(found, fmt.Sprintf("%s in %d steps", e.Anomaly(), e.Length()))
		}
	}
	slices.Sort(found)
	return fmt.Sprint(found)
}
