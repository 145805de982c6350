package seat_test

import (
	"net/http"
	"strings"
	"testing"

	"lockstep/internal/explore/seat"
	"lockstep/internal/verdict"
)

// explored requests an exploration and returns its result.
func explored(t testing.TB, s http.Handler, pairs ...string) seat.LinkedResult {
	t.Helper()
	return lastEvent[seat.LinkedResult](t, s, "/seat/explore", pairs...)
}

// An exploration returns the shortest schedule with the sentence of the terminal, and its link leads to the same schedule.
func TestExplorationReturnsShortestSchedule(t *testing.T) {
	s := open(t, limitsWithoutTable())
	for _, at := range positions() {
		e := explored(t, s, "lock", at.lock, "in", at.in, "anomaly", string(at.anomaly))
		found := e.Document.Counterexample
		if e.Document.Verdict != verdict.Broken || found.Anomaly != at.anomaly || found.Schedule != at.do || len(e.Counterexamples) != 1 {
			t.Fatalf("%s: %+v; want %s by %s", at.lock, e.Document, at.anomaly, at.do)
		}
		shown := e.Counterexamples[0]
		if shown.Schedule() != at.do || shown.Hits[0].Step != found.Length || shown.VerdictText != e.Says ||
			!strings.HasPrefix(e.Says, at.lock+" shows "+string(at.anomaly)) {
			t.Errorf("%s: %q, %+v", at.lock, e.Says, shown)
		}
		if state := follow(t, s, e.Links[0]); state.View.Schedule != at.do || state.Stale != nil {
			t.Errorf("%s leads to %q, stale %v", e.Links[0], state.View.Schedule, state.Stale)
		}
	}
}

func TestCompleteExplorations(t *testing.T) {
	s := open(t, limitsWithoutTable())
	holds := explored(t, s, "lock", "v4", "lang", "zh")
	if holds.Document.Verdict != verdict.Holds || !holds.Document.Complete || !strings.HasPrefix(holds.Says, "v4 从不出现异常") ||
		len(holds.Tested) == 0 || len(holds.Counterexamples)+len(holds.Links) > 0 {
		t.Errorf("%+v", holds)
	}
	each := explored(t, s, "lock", "v2", "in", "--faults expiry=1", "each", "true", "why", "true")
	if len(each.Counterexamples) < 3 || len(each.Links) != len(each.Counterexamples) || !each.Document.Complete {
		t.Fatalf("%d are shown, by %v", len(each.Counterexamples), each.Links)
	}
	for i, shown := range each.Counterexamples {
		if !strings.HasPrefix(shown.Why, "Why: ") || !strings.HasSuffix(each.Links[i], "&anomaly="+string(shown.Anomaly)) {
			t.Errorf("%s: %q, %s", shown.Anomaly, shown.Why, each.Links[i])
		}
	}
}

// With table=true, an anomaly that never shows is proved in every scenario; otherwise the first scenario that shows it ends the search.
func TestExplorationOfAllScenarios(t *testing.T) {
	s := open(t, limitsWithoutTable())
	proof := explored(t, s, "lock", "v4", "anomaly", "foreign-release", "table", "true")
	if proof.Document.Verdict != verdict.Holds || len(proof.Document.Cut) > 0 || len(proof.Tested) != 17 ||
		proof.Says != "v4 never shows foreign-release: every schedule of all 17 scenarios was explored." ||
		proof.Tested[5] != "expiry: 382 schedules, 238 states, at most 9 steps." {
		t.Errorf("%q, %q: %+v", proof.Says, proof.Tested, proof.Document)
	}
	breach := explored(t, s, "lock", "v3", "anomaly", "foreign-release", "table", "true")
	if breach.Document.Verdict != verdict.Broken || breach.Scenario != "--faults expiry=1" || len(breach.Links) != 1 {
		t.Errorf("%q, %q, %q", breach.Says, breach.Scenario, breach.Links)
	}
	if status := ask(t, s, "/seat/explore", "lock", "v4", "table", "perhaps").Code; status != http.StatusBadRequest {
		t.Errorf("table=perhaps: %d", status)
	}
}
