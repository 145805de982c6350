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

// The cuts of the search change neither which anomalies are found nor the lengths of their counterexamples. Without the cuts a search often
// does not end; then the results are compared up to the length of which it has explored all schedules. With the cuts, the same number of
// schedules must reach at least that far.
func TestCutsDoNotChangeResults(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes under the race detector, and has no more goroutines than the other tests")
	}
	schedules, strategies := 250, []strategy.Strategy{findStrategy(t, "v4")}
	if suite.Long {
		schedules, strategies = 400, evolution.Table()
	}
	for _, strategy := range append(strategies, locker(piped)) {
		switch strategy.Name {
		case "delex", "late-commit", "lua-setnx", "v8":
			continue // v4, v2 and v9 stand for these
		}
		if strategy.OnNodes {
			continue // see TestNodeSymmetryDoesNotChangeResults
		}
		lossOfKeys := explore.NamedScenario{Name: "rollback, evict", Scenario: twoActors("rollback=1,evict=1")}
		for _, scenario := range append(explore.Scenarios(2), lossOfKeys) {
			if scenario.Work > 0 && strategy.Capabilities.Renewed {
				continue // renewals make the schedules so long that none of those explored shows an anomaly
			}
			t.Run(strategy.Name+" "+scenario.Name, func(t *testing.T) {
				whole := explore.Bounds{EveryState: true, EverySymmetry: true, Schedules: schedules}
				checkSameResults(t, strategy, scenario.Scenario, explore.Bounds{Schedules: schedules}, whole)
			})
		}
	}
}

// checkSameResults checks that explorations within two sets of bounds find the same anomalies, up to the length of which both have explored
// all schedules.
func checkSameResults(t *testing.T, s strategy.Strategy, in explore.Scenario, bounds, others explore.Bounds) {
	t.Helper()
	run := func(bounds explore.Bounds) explore.Result {
		result, err := explore.Explore(t.Context(), s, in, explore.Goal{All: true}, bounds)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	cut, whole := run(bounds), run(others)
	length := whole.Depth
	if whole.Complete {
		length = max(cut.Depth, whole.Depth) + 1
	}
	if !cut.Complete && (whole.Complete || cut.Depth < whole.Depth) {
		t.Fatalf("with the cuts, %d schedules reach %d steps; want at least %d steps, as without the cuts", cut.Schedules, cut.Depth, whole.Depth)
	}
	if with, without := foundWithin(length, cut), foundWithin(length, whole); with != without {
		t.Errorf("up to %d steps, with the cuts: got %s; want %s, as without the cuts", length, with, without)
	}
	t.Logf("up to %d steps: %s; %d schedules, without the cuts %d", length, foundWithin(length, cut), cut.Schedules, whole.Schedules)
}

// foundWithin lists the anomalies that a result shows in at most so many steps.
func foundWithin(length int, result explore.Result) string {
	found := []string{}
	for _, e := range result.Found {
		if e.Length() <= length {
			found = append(found, fmt.Sprintf("%s in %d steps", e.Anomaly(), e.Length()))
		}
	}
	slices.Sort(found)
	return fmt.Sprint(found)
}
