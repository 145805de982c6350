package result

import (
	"slices"
	"strings"
	"testing"

	"lockstep/bench/internal/contestants"
)

var manyBuyers = Condition{AddedMillis: 1, Processes: 1, Buyers: 200}

func newCell(name string, kind contestants.Kind, repetition int, perSecond float64) Cell {
	return Cell{Contestant: name, Kind: kind, Condition: manyBuyers, Repetition: repetition, Status: OK, PerSecond: perSecond, Requests: 2.1}
}

// newRun returns a run of two repetitions, of which the second is half as fast.
func newRun() Run {
	run := Run{Cells: []Cell{
		newCell("limit", contestants.Limit, 1, 400), newCell("v10", contestants.Step, 1, 390), newCell("v11", contestants.Step, 1, 380),
		newCell("redislock", contestants.Library, 1, 150), newCell("redsync", contestants.Library, 1, 130),
		newCell("limit", contestants.Limit, 2, 200), newCell("v10", contestants.Step, 2, 180), newCell("v11", contestants.Step, 2, 180),
		newCell("redislock", contestants.Library, 2, 60), newCell("redsync", contestants.Library, 2, 90),
	}}
	SetShares(run.Cells)
	return run
}

// A ratio compares results of the same repetition, so that a machine that is slow for a while does not matter.
func TestRatiosCompareSameRepetition(t *testing.T) {
	run := newRun()
	if got := run.Summary("v10", manyBuyers, Share); got.Min != 0.9 || got.Max != 0.975 {
		t.Errorf("shares of the limit: got %+v, want from 0.9 to 0.975", got)
	}
	if got := run.RatioToLibraries("v10", manyBuyers); got.Min != 2 || got.Max != 2.6 {
		t.Errorf("times the fastest library: got %+v, want from 2 to 2.6", got)
	}
	if got := run.Ratio("v11", "v10", manyBuyers); got.Max != 1 || got.N != 2 {
		t.Errorf("v11 over v10: got %+v, want at most 1, of two repetitions", got)
	}
}

func TestHungCellHasNoNumbers(t *testing.T) {
	run := newRun()
	run.Cells[3].Status = Hung
	if got := run.Summary("redislock", manyBuyers, PerSecond); got.N != 1 || got.Median != 60 {
		t.Errorf("got %+v, want only the repetition that completed", got)
	}
	if got := run.RatioToLibraries("v10", manyBuyers); got.Max != 3 {
		t.Errorf("times the fastest library: got %+v, want it without the one that hung", got)
	}
	if wrong := run.Invalid(); len(wrong) > 0 {
		t.Errorf("got %+v, want a library that hung to be valid", wrong)
	}
	run.Cells[4].Status, run.Cells[1].Status = Broken, Hung
	if wrong := run.Invalid(); len(wrong) != 2 {
		t.Errorf("got %+v, want a wrong stock and a step that hung to be invalid", wrong)
	}
}

func TestGoalsCompareMedianWithBound(t *testing.T) {
	for _, test := range []struct {
		contestant, what, want string
		met                    bool
	}{
		{contestant: "v10", what: "share of the limit", want: "≥ 0.95"}, // 0.9375
		{contestant: "v10", what: "requests per sale", want: "≤ 2.2", met: true},
		{contestant: "v10", what: "times the fastest library", want: "≥ 2.4"}, // 2.3
		{contestant: "v10", what: "longest wait over mean", want: "≤ 2", met: true},
		{contestant: "v11", what: "times v10 (less 3 % for noise)", want: "≥ 0.97", met: true},
	} {
		t.Run(test.contestant, func(t *testing.T) {
			if g := findGoal(t, newRun(), test.contestant, test.what); g.IsMet != test.met || g.Want != test.want {
				t.Errorf("%+v; want it %s, met: %v", g, test.want, test.met)
			}
		})
	}
}

func findGoal(t *testing.T, run Run, contestant, what string) Goal {
	t.Helper()
	goals := run.Goals()
	i := slices.IndexFunc(goals, func(g Goal) bool { return g.Contestant == contestant && g.What == what })
	if i < 0 {
		t.Fatalf("%s has no goal %q in %+v", contestant, what, goals)
	}
	return goals[i]
}

// A contestant that hung misses its goals, whether or not it completed another repetition.
func TestHungContestantMissesItsGoals(t *testing.T) {
	run := newRun()
	run.Cells[1].Status = Hung
	if g := findGoal(t, run, "v10", "requests per sale"); g.IsMet {
		t.Errorf("got %+v, want the goal missed after one of two repetitions hung", g)
	}
	run.Cells[6].Status = Hung
	if g := findGoal(t, run, "v10", "share of the limit"); g.IsMet || g.Measured.N != 0 {
		t.Errorf("got %+v, want the goal missed without a value after both hung", g)
	}
	for _, g := range run.Goals() {
		if g.Contestant == "v11" && strings.HasPrefix(g.What, "times v10") {
			t.Errorf("got %+v, want no goal of v11 beside v10, which did not complete", g)
		}
	}
}

// A share far above the limit means that the machine was disturbed while the limit ran.
func TestShareFarAboveLimitMeetsNoGoal(t *testing.T) {
	for share, met := range map[float64]bool{0.9: false, 0.96: true, 1.09: true, 1.3: false} {
		run := Run{Cells: []Cell{{Contestant: "v10", Condition: manyBuyers, Status: OK, Share: share}}}
		if g := findGoal(t, run, "v10", "share of the limit"); g.IsMet != met {
			t.Errorf("%+v; want met: %v", g, met)
		}
	}
}

// Waits that are cut off because buyers were never served look fair, but then another goal is missed.
func TestUnservedBuyersMissGoal(t *testing.T) {
	run := newRun()
	for i := range run.Cells {
		run.Cells[i].NeverServed = 1
	}
	if g := findGoal(t, run, "v10", "buyers that never got in"); g.IsMet {
		t.Errorf("got %+v, want the goal missed", g)
	}
}

// A cached lock costs a single buyer almost no requests.
func TestCachedLockMeetsRequestGoal(t *testing.T) {
	alone := Condition{AddedMillis: 1, Processes: 1, Buyers: 1}
	for requests, met := range map[float64]bool{0.1: true, 0.11: false} {
		run := Run{Cells: []Cell{{Contestant: "v11", Condition: alone, Status: OK, Requests: 2 + requests, LockRequests: requests}}}
		if g := findGoal(t, run, "v11", "requests of the lock per sale"); g.IsMet != met {
			t.Errorf("%+v; want met: %v", g, met)
		}
	}
}
