package report

import (
	"encoding/json"
	"strings"
	"testing"

	"lockstep/internal/anomaly"
	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/strategy"
)

// The document of explore --all --json has a verdict for each lock and anomaly.
func TestTableDocumentHasVerdicts(t *testing.T) {
	wants := map[string]string{"v0": "n/a", "v1": "unknown", "setex": "unknown"}
	var some []strategy.Strategy
	for lock := range wants {
		s, err := evolution.Find(lock)
		if err != nil {
			t.Fatal(err)
		}
		some = append(some, s)
	}
	rows, err := explore.Tabulate(t.Context(), some, 2, explore.Bounds{Schedules: 1}, func(explore.NamedScenario, explore.Result, bool) {})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(newTableDocument(rows, 2, 0))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Locks map[string]map[explore.Anomaly]struct{ Verdict string }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for lock, want := range wants {
		if got := doc.Locks[lock][anomaly.ForeignRelease].Verdict; got != want {
			t.Errorf("%s: foreign-release %q; want %q", lock, got, want)
		}
	}
}

// The length of the longest schedule includes the counterexample.
func TestLongestScheduleIncludesCounterexample(t *testing.T) {
	v0, err := evolution.Find("v0")
	if err != nil {
		t.Fatal(err)
	}
	r := Request{Lock: v0, Scenario: explore.Scenario{Actors: 2}, Anomaly: anomaly.LostUpdate, Progress: func(explore.Result) {}}
	out, err := r.Result(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	steps := out.Counterexamples[0].Steps
	if len(steps) != 4 || out.Document.Depth != 4 || !strings.Contains(out.SizeText, "at most 4 steps") {
		t.Errorf("found in %d steps; the document says %d, and the page: %s", len(steps), out.Document.Depth, out.SizeText)
	}
}
