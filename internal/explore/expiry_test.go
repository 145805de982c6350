package explore

import (
	"slices"
	"testing"

	"lockstep/internal/evolution"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/fault"
)

// Wherever a schedule stands, with a key that is to expire, the expiry can come next: as a fault while somebody could move, and by itself
// while nobody can, after the timers that are due before.
func TestAnExpiryComesBetweenAnyTwoSteps(t *testing.T) {
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
					for _, then := range mayExpire(t, h, path) {
						run := begin(h, append(slices.Clip(path), then))
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

// begin runs a schedule.
func begin(h *Harness, path []engine.Transition) *Run {
	run := h.Begin()
	for _, then := range path {
		run.Engine.Transitions()
		run.Apply(then)
	}
	return run
}

// mayExpire sees that an expiry can follow a schedule, and gives what can, except for an expiry.
func mayExpire(t *testing.T, h *Harness, path []engine.Transition) []engine.Transition {
	t.Helper()
	run := begin(h, path)
	defer run.Close()
	all := slices.Clone(run.Engine.Transitions())
	passes := func(then engine.Transition) bool {
		return then.Kind == engine.Expires || then.Kind == engine.TimePasses
	}
	over := !slices.ContainsFunc(all, func(then engine.Transition) bool { return then.Kind != engine.Arrives })
	if run.Engine.Cluster.NextExpiry() > 0 && !over && !slices.ContainsFunc(all, passes) {
		t.Errorf("after %s no key can expire; what can happen is %v", h.Trace(path).Schedule(), all)
	}
	return slices.DeleteFunc(all, func(then engine.Transition) bool { return then.Kind == engine.Expires })
}
