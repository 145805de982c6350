package explore_test

import (
	"math/rand/v2"
	"testing"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/explore/engine"
	"lockstep/internal/strategy"
	"lockstep/internal/test/suite"
)

// Schedules that chance chooses, from all that there are without any cut, show nothing that the search with all cuts does not show, in
// as few steps.
func TestChanceShowsNothingNew(t *testing.T) {
	suite.LongOnly(t, "chance needs many schedules to show anything")
	const schedules, steps = 500, 60
	for _, strategy := range evolution.Table() {
		if strategy.OnNodes {
			continue // no scenario of theirs ends
		}
		for _, text := range []string{"expiry=1", "slow=1,expiry=1", "pause=1", "crash=1,lost-reply=1", "cancel=1,lost-wake=1"} {
			if text == "slow=1,expiry=1" && strategy.Capabilities.Renewed && strategy.Name != "v6" {
				continue // they renew as v6 does, and each takes several seconds
			}
			t.Run(strategy.Name+" "+text, func(t *testing.T) {
				scenario := faultsOfTwo(text)
				result, err := explore.Explore(t.Context(), strategy, scenario, explore.Goal{All: true}, explore.Bounds{})
				if err != nil || !result.Complete {
					t.Fatalf("%v; bound %q", err, result.Bound())
				}
				known := map[explore.Anomaly]int{}
				for _, e := range result.Found {
					known[e.Anomaly()] = e.Length()
				}
				seen := map[explore.Anomaly]bool{}
				wander(t, strategy, scenario, schedules, steps, func(a explore.Anomaly, length int) {
					if !a.IsPromisedBy(strategy) || a.ByName() {
						return
					}
					if shortest, is := known[a]; !is || shortest > length {
						t.Errorf("chance shows %s in %d steps; the search in %d", a, length, shortest)
					}
					seen[a] = true
				})
				t.Logf("%d of %d anomalies seen; the search ran %d schedules", len(seen), len(known), result.Schedules)
			})
		}
	}
}

// wander follows schedules that chance chooses, always the same, and tells what each step shows.
func wander(t *testing.T, s strategy.Strategy, in explore.Scenario, schedules, steps int, shows func(a explore.Anomaly, length int)) {
	chance := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // it is to be the same each time
	h, err := explore.NewHarness(s, in, explore.Options{Cuts: engine.Cuts{EverySymmetry: true}}, engine.NewSeeds())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for range schedules {
		run := h.Begin()
		for length := 1; length <= steps; length++ {
			options := run.Engine.Transitions()
			if len(options) == 0 || !run.Apply(options[chance.IntN(len(options))]) {
				break
			}
			found, over := run.Check()
			if run.Engine.Err() != nil {
				t.Fatal(run.Engine.Err())
			}
			for _, f := range found {
				shows(f.Anomaly, length)
			}
			if over {
				break
			}
		}
		run.Close()
	}
}
