package graph

import (
	"context"
	"slices"

	"lockstep/internal/explore"
	"lockstep/internal/explore/anomaly"
	"lockstep/internal/explore/execution"
	"lockstep/internal/explore/harness"
	"lockstep/internal/explore/search"
	"lockstep/internal/explore/stepper"
)

// escaped is what a search for a way without an anomaly looks for.
const escaped anomaly.Anomaly = "escaped"

// escape looks for the shortest way from a session's present state to the end of all sales that has no further fault, and does not show an
// anomaly. What it finds is no anomaly, but that way.
func escape(ctx context.Context, s *stepper.Session, from explore.Anomaly, bounds explore.Bounds) (search.Result, error) {
	see := func(r *harness.Run) search.Run { return &faultless{Run: r, avoid: from} }
	goal := search.Goal{Anomalies: []explore.Anomaly{escaped}}
	return after(ctx, s, see, goal, bounds)
}

// faultless is a run without further faults. It ends when it shows what it is to avoid, and has escaped when it comes to the end.
type faultless struct {
	*harness.Run
	avoid explore.Anomaly
	shown bool
}

// Transitions implements search.Run.
func (f *faultless) Transitions() []execution.Transition {
	return slices.DeleteFunc(slices.Clone(f.Run.Transitions()), func(t execution.Transition) bool { return t.Kind.Uses() != "" })
}

// Check implements search.Run.
func (f *faultless) Check() (found []anomaly.Found, over bool) {
	shown, over := f.Run.Check()
	f.shown = slices.ContainsFunc(shown, func(other anomaly.Found) bool { return other.Anomaly == f.avoid })
	if over && !f.shown {
		found = append(found, anomaly.Found{Anomaly: escaped})
	}
	return found, over || f.shown
}

// Fingerprint implements search.Run. A state is another one if the last step into it was to be avoided: nothing is gone on from that.
func (f *faultless) Fingerprint() execution.Fingerprint {
	seen := f.Run.Fingerprint()
	if f.shown {
		seen[0] = ^seen[0]
	}
	return seen
}
