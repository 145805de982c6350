package session

import (
	"slices"
	"testing"

	"lockstep/internal/explore"
	"lockstep/internal/explore/engine"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/evolution"
)

// A way has no fault. What shows the anomaly ends it, and leads to another state than what does not: or else a way that comes there by an
// innocent step would count as seen.
func TestAWayAvoidsFaultsAndTheAnomaly(t *testing.T) {
	strategy, err := evolution.Find("v2")
	if err != nil {
		t.Fatal(err)
	}
	in := explore.Scenario{Actors: 2}
	in.Faults.Expiry, in.Faults.Crash, in.Faults.Failover = 1, 1, 1
	session, err := New(strategy, in, "A:SET expiry B:SET")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	h, err := explore.NewHarness(strategy, in, explore.Options{Cuts: engine.Cuts{EverySymmetry: true}}, engine.NewSeeds())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	f := &faultless{Run: h.Begin(false), avoid: anomaly.TwoHolders}
	defer f.Close()
	for i, step := range session.Path() {
		faults := slices.ContainsFunc(f.Transitions(), func(t engine.Transition) bool { return t.Kind != engine.Moves })
		if len(f.Transitions()) == 0 || faults {
			t.Errorf("before step %d there are %v; want moves alone", i+1, f.Transitions())
		}
		f.Apply(step)
		found, over := f.Check()
		last := i == len(session.Path())-1
		if len(found) > 0 || over != last || (f.Fingerprint() != f.Run.Fingerprint()) != last {
			t.Errorf("after step %d: %v, over %t; want the last to end it, in a state of its own", i+1, found, over)
		}
	}
}
