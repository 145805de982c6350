package result

import (
	"slices"
	"strings"
	"testing"

	"lockstep/bench/internal/contestants"
)

var here = Condition{AddedMillis: 1, Processes: 1, Buyers: 200}

func cell(name string, kind contestants.Kind, repetition int, perSecond float64) Cell {
	return Cell{Contestant: name, Kind: kind, Condition: here, Repetition: repetition, Status: OK, PerSecond: perSecond, Requests: 2.1}
}

// two repetitions; in the second everything is half as fast.
func sample() Run {
	run := Run{Cells: []Cell{
		cell("limit", contestants.Limit, 1, 400), cell("v10", contestants.Step, 1, 390), cell("v11", contestants.Step, 1, 380),
		cell("redislock", contestants.Library, 1, 150), cell("redsync", contestants.Library, 1, 130),
		cell("limit", contestants.Limit, 2, 200), cell("v10", contestants.Step, 2, 180), cell("v11", contestants.Step, 2, 180),
		cell("redislock", contestants.Library, 2, 60), cell("redsync", contestants.Library, 2, 90),
	}}
	SetShares(run.Cells)
	return run
}

// A ratio is of one repetition, so that a machine that was slow for a while does not show.
func TestRatiosCompareSameRepetition(t *testing.T) {
	run := sample()
	if got := run.Summary("v10", here, Share); got.Min != 0.9 || got.Max != 0.975 {
		t.Errorf("shares of the limit: %+v", got)
	}
	if got := run.RatioToLibraries("v10", here); got.Min != 2 || got.Max != 2.6 {
		t.Errorf("times the fastest library: %+v", got)
	}
	if got := run.Ratio("v11", "v10", here); got.Max != 1 || got.N != 2 {
		t.Errorf("v11 over v10: %+v", got)
	}
}

// A contestant that hung has no numbers, and the others have theirs.
func TestHungCellHasNoNumbers(t *testing.T) {
	run := sample()
	run.Cells[3].Status = Hung
	if got := run.Summary("redislock", here, PerSecond); got.N != 1 || got.Median != 60 {
		t.Errorf("of the repetition that came through: %+v", got)
	}
	if got := run.RatioToLibraries("v10", here); got.Max != 3 {
		t.Errorf("times the fastest library that did not hang: %+v", got)
	}
	if wrong := run.Invalid(); len(wrong) > 0 {
		t.Errorf("a library that hung is wrong: %+v", wrong)
	}
	run.Cells[4].Status, run.Cells[1].Status = Broken, Hung
	if wrong := run.Invalid(); len(wrong) != 2 {
		t.Errorf("a broken stock, and one of ours that hung: %+v", wrong)
	}
}

func TestGoalsCompareMedianWithBound(t *testing.T) {
	for _, test := range []struct {
		contestant, what, want string
		met                    bool
	}{
		{"v10", "share of the limit", "≥ 0.95", false}, // 0.9375
		{"v10", "requests per sale", "≤ 2.2", true},
		{"v10", "times the fastest library", "≥ 2.4", false}, // 2.3
		{"v10", "longest wait over mean", "≤ 2", true},
		{"v11", "times v10 (less 3 % for noise)", "≥ 0.97", true},
	} {
		if g := goal(t, sample(), test.contestant, test.what); g.IsMet != test.met || g.Want != test.want {
			t.Errorf("%+v; want it %s, met: %v", g, test.want, test.met)
		}
	}
}

func goal(t *testing.T, run Run, contestant, what string) Goal {
	t.Helper()
	goals := run.Goals()
	i := slices.IndexFunc(goals, func(g Goal) bool { return g.Contestant == contestant && g.What == what })
	if i < 0 {
		t.Fatalf("%s has no goal %q in %+v", contestant, what, goals)
	}
	return goals[i]
}

// A contestant that hung has missed its goals, even if it completed another repetition, and even if it never did.
func TestHungContestantMissesItsGoals(t *testing.T) {
	run := sample()
	run.Cells[1].Status = Hung
	if g := goal(t, run, "v10", "requests per sale"); g.IsMet {
		t.Errorf("it hung in one of two repetitions: %+v", g)
	}
	run.Cells[6].Status = Hung
	if g := goal(t, run, "v10", "share of the limit"); g.IsMet || g.Measured.N != 0 {
		t.Errorf("it hung in both: %+v", g)
	}
	for _, g := range run.Goals() {
		if g.Contestant == "v11" && strings.HasPrefix(g.What, "times v10") {
			t.Errorf("there is nothing to compare v11 with: %+v", g)
		}
	}
}

// A share far above the limit means that the limit was measured under a disturbance.
func TestShareFarAboveLimitMeetsNoGoal(t *testing.T) {
	for share, met := range map[float64]bool{0.9: false, 0.96: true, 1.09: true, 1.3: false} {
		run := Run{Cells: []Cell{{Contestant: "v10", Condition: here, Status: OK, Share: share}}}
		if g := goal(t, run, "v10", "share of the limit"); g.IsMet != met {
			t.Errorf("%+v; want met: %v", g, met)
		}
	}
}

// A wait that is cut short because buyers never got in looks fair: the goal beside it is missed.
func TestUnservedBuyersMissGoal(t *testing.T) {
	run := sample()
	for i := range run.Cells {
		run.Cells[i].NeverServed = 1
	}
	if g := goal(t, run, "v10", "buyers that never got in"); g.IsMet {
		t.Errorf("%+v", g)
	}
}

// A lock that is kept costs a buyer alone no requests.
func TestCachedLockMeetsRequestGoal(t *testing.T) {
	alone := Condition{AddedMillis: 1, Processes: 1, Buyers: 1}
	for requests, met := range map[float64]bool{0.1: true, 0.11: false} {
		run := Run{Cells: []Cell{{Contestant: "v11", Condition: alone, Status: OK, Requests: 2 + requests, LockRequests: requests}}}
		if g := goal(t, run, "v11", "requests of the lock per sale"); g.IsMet != met {
			t.Errorf("%+v; want met: %v", g, met)
		}
	}
}
