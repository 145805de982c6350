package seat_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

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
		if steps, err := s.Solve(t.Context(), "", lock.Name, hint.Schedule); err != nil || steps != level.Steps {
			t.Errorf("%s: %q solves it in %d steps, %v; want %d", name, hint.Schedule, steps, err, level.Steps)
		}
	}
	if len(solved) > 0 {
		t.Errorf("there are no such levels: %v", solved)
	}
}

// Only a schedule of the lock's own code that shows the anomaly solves a level, within the level's scenario.
func TestOnlyABreachSolvesALevel(t *testing.T) {
	s := open(t, seat.Usual())
	if steps, err := s.Solve(t.Context(), "", "v0", "A:GET A:write B:GET B:write"); err == nil {
		t.Errorf("a sale after the other solves v0 in %d steps", steps)
	}
	for name, schedule := range map[string]string{
		"v0":         "A:GET B:GET A:write",
		"v2":         "A:SET A:GET A:write expiry B:SET expiry A:DEL", // there is one
		"v1":         "A:SET B:SET",
		"atomic":     "A:decrement",
		"v4":         "",
		"v5":         strings.Repeat("A:lock ", 301),
		"no lock":    "A:GET",
		"optimistic": "",
	} {
		if steps, err := s.Solve(t.Context(), "", name, schedule); err == nil || name != "no lock" && !errors.Is(err, seat.ErrUnsolved) {
			t.Errorf("%s: %q solves it in %d steps, %v", name, schedule, steps, err)
		}
	}
	if steps, err := s.Solve(t.Context(), "", "v0", "A:GET B:GET A:write B:write"); err != nil || steps != 4 {
		t.Errorf("v0 in %d steps, %v; want 4", steps, err)
	}
	if steps, err := seat.New(seat.Limits{}, nil).Solve(t.Context(), "", "v0", "A:GET B:GET A:write B:write"); err == nil {
		t.Errorf("without a table it is solved in %d steps", steps)
	}
}
