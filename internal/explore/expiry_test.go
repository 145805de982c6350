package explore

import (
	"slices"
	"testing"

	"lockstep/internal/evolution"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/fault"
)

// While a key has an expiry, the expiry is a possible next step of every schedule: as a fault while an actor can move, and otherwise by
// itself, after the timers that are due earlier.
func TestExpiryIsPossibleBetweenAnyTwoSteps(t *testing.T) {
	const depth = 9
	for _, name := range []string{"v4", "v6", "v10"} {
		t.Run(name, func(t *testing.T) {
			s, err := evolution.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			in := engine.Scenario{Actors: 2, Work: engine.TTL / 5, Faults: fault.Budget{fault.Expiry: 1, fault.Late: 1}}
			h, err := NewHarness(s, in, Options{}, engine.NewSeeds())
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			seen, states := map[engine.Fingerprint]bool{}, 0
			for level := [][]engine.Transition{nil}; len(level) > 0 && len(level[0]) < depth; {
				var next [][]engine.Transition
				for _, path := range level {
					for _, then := range stepsExceptExpiry(t, h, path) {
						run := runSchedule(h, append(slices.Clip(path), then))
						if state := run.Engine.Fingerprint(); !seen[state] {
							seen[state] = true
							states++
							next = append(next, append(slices.Clip(path), then))
						}
						run.Close()
					}
				}
				level = next
			}
			t.Logf("%d states", states)
		})
	}
}

// runSchedule returns a run that has taken the steps of a schedule.
func runSchedule(h *Harness, path []engine.Transition) *Run {
	run := h.Begin()
	for _, then := range path {
		run.Engine.Transitions()
		run.Apply(then)
	}
	return run
}

// stepsExceptExpiry checks that an expiry can follow a schedule, and returns the other steps that can.
func stepsExceptExpiry(t *testing.T, h *Harness, path []engine.Transition) []engine.Transition {
	t.Helper()
	run := runSchedule(h, path)
	defer run.Close()
	all := slices.Clone(run.Engine.Transitions())
	isExpiry := func(then engine.Transition) bool {
		return then.Kind == engine.Expires || then.Kind == engine.TimePasses
	}
	over := !slices.ContainsFunc(all, func(then engine.Transition) bool { return then.Kind != engine.Arrives })
	if run.Engine.Cluster.NextExpiry() > 0 && !over && !slices.ContainsFunc(all, isExpiry) {
		t.Errorf("after %s no key can expire; got the steps %v", h.Trace(path).Schedule(), all)
	}
	return slices.DeleteFunc(all, func(then engine.Transition) bool { return then.Kind == engine.Expires })
}
