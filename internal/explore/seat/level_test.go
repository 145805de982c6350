package seat_test

import (
	"slices"
	"strings"
	"testing"

	"lockstep/internal/explore"
	"lockstep/internal/explore/seat"
	"lockstep/internal/explore/session"
)

// The campaign's levels are what the table that is shipped says: v0 to v11 each have one, and the shortest schedule solves it.
func TestEachStepHasALevel(t *testing.T) {
	s := open(t, seat.Usual())
	solved := map[string]int{
		"v0 lost-update": 4, "v1 stuck": 3, "v2 foreign-release": 6, "v3 foreign-release": 7, "v4 self-deadlock": 4, "v5 two-holders": 3,
		"v6 lost-update": 8, "v7 two-holders": 6, "v8 two-holders": 6, "v9 two-holders": 6, "v10 two-holders": 14, "v11 two-holders": 15,
		"setnx-expire left-behind": 3, "non-idempotent double-sale": 2,
	}
	keeps := strings.Fields("v7 v8 v9 v10 v11 atomic optimistic segmented")
	for _, lock := range get[seat.Index](t, s, "/seat").Locks {
		level := lock.Level
		if level == nil || level.KeepsStock != slices.Contains(keeps, lock.Name) {
			t.Fatalf("%s: %+v", lock.Name, level)
		}
		if none := slices.Contains([]string{"atomic", "optimistic", "segmented"}, lock.Name); none {
			if *level != (seat.Level{KeepsStock: true}) {
				t.Errorf("%s has a level: %+v", lock.Name, level)
			}
			continue
		}
		name := lock.Name + " " + string(level.Anomaly)
		if want := solved[name]; want > 0 && want != level.Steps {
			t.Errorf("%s takes %d steps; want %d", name, level.Steps, want)
		}
		delete(solved, name)
		hint := get[session.Hint](t, s, "/seat/hint", "lock", lock.Name, "in", level.In, "anomaly", string(level.Anomaly))
		state := get[seat.State](t, s, "/seat/state", "lock", lock.Name, "in", level.In, "do", hint.Schedule)
		if !slices.ContainsFunc(state.View.Hits, func(a explore.AnomalyHit) bool { return a.Anomaly == level.Anomaly && a.Step == level.Steps }) {
			t.Errorf("%s: %q shows %+v; want it at step %d", name, hint.Schedule, state.View.Hits, level.Steps)
		}
	}
	if len(solved) > 0 {
		t.Errorf("there are no such levels: %v", solved)
	}
}
