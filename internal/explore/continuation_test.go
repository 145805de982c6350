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

// A continuation has no further fault. The anomaly to avoid ends it, in a state that differs from the one that another step leads to:
// otherwise the search would take that one for seen. A continuation that reaches the end of all sales shows CleanEnd.
func TestContinuationAvoidsFaultsAndAnomaly(t *testing.T) {
	s, err := evolution.Find("v2")
	if err != nil {
		t.Fatal(err)
	}
	in := Scenario{Actors: 2, Faults: Faults{fault.Expiry: 1, fault.Crash: 1, fault.Failover: 1}}
	for schedule, want := range map[string]string{
		"A:SET expiry B:SET": "",
		"A:SET A:GET A:write A:DEL B:SET B:GET B:write B:DEL": string(CleanEnd),
	} {
		t.Run(schedule, func(t *testing.T) {
			h, err := NewHarness(s, in, Options{DisabledReductions: engine.DisabledReductions{EverySymmetry: true}}, engine.NewSeeds())
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			run := &searchRun{Run: h.Begin(), continuation: &Continuation{Avoid: anomaly.TwoHolders}}
			defer run.Close()
			tokens := strings.Fields(schedule)
			for i, token := range tokens {
				next := run.Transitions()
				if len(next) == 0 || slices.ContainsFunc(next, func(t engine.Transition) bool { return t.Kind != engine.Moves }) {
					t.Errorf("before step %d: got %v; want only moves", i+1, next)
				}
				wanted, err := engine.ParseToken(token)
				if err != nil {
					t.Fatal(err)
				}
				step, ok := run.Find(wanted)
				if !ok || !run.Apply(step) {
					t.Fatalf("%s cannot happen", token)
				}
				sight, last := run.Check(), i == len(tokens)-1
				if avoided := last && want == ""; sight.Terminal != last || (run.Fingerprint() != run.Engine.Fingerprint()) != avoided {
					t.Errorf("after step %d: got %+v; want only the last step to end it, in a state of its own if it shows the anomaly", i+1, sight)
				}
				if shown := strings.Join(sight.Hits, " "); last && shown != want || !last && shown != "" {
					t.Errorf("after step %d: got %q; want only the last step to show %q", i+1, sight.Hits, want)
				}
			}
		})
	}
}
