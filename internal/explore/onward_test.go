package explore

import (
	"slices"
	"strings"
	"testing"

	"lockstep/internal/anomaly"
	"lockstep/internal/evolution"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/fault"
)

// A way on has no fault. What shows the anomaly ends it, and leads to another state than what does not: or else a way that comes there by
// an innocent step would count as seen. One that comes to the end has escaped.
func TestAWayOnAvoidsFaultsAndTheAnomaly(t *testing.T) {
	s, err := evolution.Find("v2")
	if err != nil {
		t.Fatal(err)
	}
	in := Scenario{Actors: 2, Faults: Faults{fault.Expiry: 1, fault.Crash: 1, fault.Failover: 1}}
	for schedule, want := range map[string]string{
		"A:SET expiry B:SET": "",
		"A:SET A:GET A:write A:DEL B:SET B:GET B:write B:DEL": string(Escaped),
	} {
		t.Run(schedule, func(t *testing.T) {
			h, err := NewHarness(s, in, Options{Cuts: engine.Cuts{EverySymmetry: true}}, engine.NewSeeds())
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			way := &searched{Run: h.Begin(), onward: &Onward{Avoid: anomaly.TwoHolders}}
			defer way.Close()
			tokens := strings.Fields(schedule)
			for i, token := range tokens {
				next := way.Transitions()
				if len(next) == 0 || slices.ContainsFunc(next, func(t engine.Transition) bool { return t.Kind != engine.Moves }) {
					t.Errorf("before step %d there are %v; want moves alone", i+1, next)
				}
				wanted, err := engine.ParseToken(token)
				if err != nil {
					t.Fatal(err)
				}
				step, can := way.Find(wanted)
				if !can || !way.Apply(step) {
					t.Fatalf("%s cannot happen", token)
				}
				sight, last := way.Check(), i == len(tokens)-1
				if avoided := last && want == ""; sight.Terminal != last || (way.Fingerprint() != way.Engine.Fingerprint()) != avoided {
					t.Errorf("after step %d: %+v; want the last to end it, in a state of its own if that was to be avoided", i+1, sight)
				}
				if shown := strings.Join(sight.Hits, " "); last && shown != want || !last && shown != "" {
					t.Errorf("after step %d it has shown %q", i+1, sight.Hits)
				}
			}
		})
	}
}
