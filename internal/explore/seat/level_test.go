package seat_test

import (
	"slices"
	"strings"
	"testing"

	"lockstep/internal/explore"
	"lockstep/internal/explore/seat"
	"lockstep/internal/explore/session"
)

// The levels of the campaign equal those of the shipped table, except for v9. Each of v0 to v11 has one, its shortest schedule solves it,
// and all schedules differ. A failed attempt gets advice if the anomaly can be missed.
func TestEachLockHasLevel(t *testing.T) {
	s := open(t, seat.DefaultLimits())
	solved := map[string]int{
		"v0 lost-update": 4, "v1 stuck": 3, "v2 foreign-release": 6, "v3 foreign-release": 7, "v4 self-deadlock": 4, "v5 two-holders": 3,
		"v6 lost-update": 8, "v7 two-holders": 6, "v8 idle": 4, "v9 lost-update": 7, "v10 two-holders": 14, "v11 two-holders": 15,
		"setnx-expire left-behind": 3, "non-idempotent double-sale": 2,
	}
	ways := map[string]string{}
	locks := get[seat.Index](t, s, "/seat").Locks
	for i, lock := range locks {
		level := lock.Level
		if level == nil {
			t.Fatalf("%s has no level", lock.Name)
		}
		if none := slices.Contains([]string{"atomic", "optimistic", "segmented"}, lock.Name); none {
			if *level != (seat.Level{}) {
				t.Errorf("%s has a level: %+v", lock.Name, level)
			}
			continue
		}
		name := lock.Name + " " + string(level.Anomaly)
		if want := solved[name]; want > 0 && want != level.Steps {
			t.Errorf("%s takes %d steps; want %d", name, level.Steps, want)
		}
		delete(solved, name)
		hint := get[session.Hint](t, s, "/seat/hint", "lock", lock.Name, "in", level.Scenario, "anomaly", string(level.Anomaly))
		state := get[seat.State](t, s, "/seat/state", "lock", lock.Name, "in", level.Scenario, "do", hint.Schedule)
		if _, step := strings.CutPrefix(lock.Name, "v"); step {
			if other := ways[hint.Schedule]; other != "" {
				t.Errorf("%s and %s are solved by the same schedule: %s", other, lock.Name, hint.Schedule)
			}
			ways[hint.Schedule] = lock.Name
			if i < 11 {
				next := get[seat.LinkedComparison](t, s, "/seat/beside",
					"lock", lock.Name, "with", locks[i+1].Name, "in", level.Scenario, "do", hint.Schedule)
				isIt := func(a explore.AnomalyHit) bool { return a.Anomaly == level.Anomaly }
				if stopped := !slices.ContainsFunc(next.Shown[1], isIt); stopped != level.NextPrevents {
					t.Errorf("%s: the next lock stops it: %t; the level says %t", lock.Name, stopped, level.NextPrevents)
				}
			}
			if none := lock.Name == "v4"; none != (level.Advice == "") { // every schedule of v4 shows its anomaly
				t.Errorf("%s says what has to happen: %q", lock.Name, level.Advice)
			}
			if ways[level.Advice] != "" || ways[level.Cause] != "" || level.Cause == "" {
				t.Errorf("%s says what others say: %q, %q", lock.Name, level.Advice, level.Cause)
			}
			ways[level.Advice], ways[level.Cause] = lock.Name, lock.Name
		}
		if !slices.ContainsFunc(state.View.Hits, func(a explore.AnomalyHit) bool { return a.Anomaly == level.Anomaly && a.Step == level.Steps }) {
			t.Errorf("%s: %q shows %+v; want it at step %d", name, hint.Schedule, state.View.Hits, level.Steps)
		}
	}
	if len(solved) > 0 {
		t.Errorf("there are no such levels: %v", solved)
	}
}
