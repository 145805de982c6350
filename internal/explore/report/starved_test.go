package report

import (
	"strings"
	"testing"

	"lockstep/internal/anomaly"
	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/verdict"
)

// Where no sale waits for a lock, none can be overtaken, so the answer about starvation is unknown: in one scenario, and in all.
func TestStarvationIsUnknownWhereNobodyWaits(t *testing.T) {
	for name, want := range map[string]verdict.Verdict{
		"v0": verdict.Unknown, "atomic": verdict.Unknown, "optimistic": verdict.Unknown, "v10": verdict.Holds,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lock, err := evolution.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			r := Request{Lock: lock, Scenario: explore.Scenario{Actors: 4}, Anomaly: anomaly.Starved, Progress: func(explore.Result) {}}
			one, err := r.Result(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			r.Scenario.Actors = 2
			all, err := r.ProveAllScenarios(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for scenarios, result := range map[string]ExplorationResult{"one": one, "all": all} {
				if got := result.Document.Verdict; got != want {
					t.Errorf("%s: %s, %s; want %s", scenarios, got, result.Says, want)
				}
				if says := strings.Contains(result.Says, "no sale waited"); says != (want == verdict.Unknown) {
					t.Errorf("%s: the answer is %q", scenarios, result.Says)
				}
			}
		})
	}
}
