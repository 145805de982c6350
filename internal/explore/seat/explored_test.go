package seat_test

import (
	"net/http"
	"strings"
	"testing"

	"lockstep/internal/explore/seat"
	"lockstep/internal/verdict"
)

// explored asks for an exploration, and gives what it found.
func explored(t testing.TB, s http.Handler, pairs ...string) seat.Explored {
	t.Helper()
	return last[seat.Explored](t, s, "/seat/explore", pairs...)
}

// What is found is what the terminal says, and its link leads to it.
func TestAnExplorationShowsTheShortestSchedule(t *testing.T) {
	s := open(t, blank())
	for _, at := range places() {
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

func TestAnExplorationToTheEnd(t *testing.T) {
	s := open(t, blank())
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

// What the table calls never is proved in each of its scenarios; what is not, ends at the first that shows it.
func TestAnExplorationOfTheTable(t *testing.T) {
	s := open(t, blank())
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
