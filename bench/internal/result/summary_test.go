package result

import (
	"slices"
	"testing"

	"lockstep/bench/internal/contest"
)

var here = Condition{AddedMillis: 1, Processes: 1, Waiters: 200}

func cell(name string, kind contest.Kind, repetition int, perSecond float64) Cell {
	return Cell{Contestant: name, Kind: kind, Condition: here, Repetition: repetition, Status: OK, PerSecond: perSecond, Commands: 2.1}
}

// two repetitions; in the second everything is half as fast.
func sample() Run {
	run := Run{Cells: []Cell{
		cell("limit", contest.Limit, 1, 400), cell("v7", contest.Ours, 1, 390), cell("v8", contest.Ours, 1, 380),
		cell("redislock", contest.Library, 1, 150), cell("redsync", contest.Library, 1, 130),
		cell("limit", contest.Limit, 2, 200), cell("v7", contest.Ours, 2, 180), cell("v8", contest.Ours, 2, 180),
		cell("redislock", contest.Library, 2, 60), cell("redsync", contest.Library, 2, 90),
	}}
	SetShares(run.Cells)
	return run
}

// A ratio is of one repetition, so that a machine that was slow for a while does not show.
func TestRatiosArePaired(t *testing.T) {
	run := sample()
	if got := run.Spread("v7", here, Share); got.Min != 0.9 || got.Max != 0.975 {
		t.Errorf("shares of the limit: %+v", got)
	}
	if got := run.OverLibraries("v7", here); got.Min != 2 || got.Max != 2.6 {
		t.Errorf("times the fastest library: %+v", got)
	}
	if got := run.Over("v8", "v7", here); got.Max != 1 || got.N != 2 {
		t.Errorf("v8 over v7: %+v", got)
	}
}

// A contestant that hung has no numbers, and the others have theirs.
func TestHungHasNoNumbers(t *testing.T) {
	run := sample()
	run.Cells[3].Status = Hung
	if got := run.Spread("redislock", here, PerSecond); got.N != 1 || got.Median != 60 {
		t.Errorf("of the repetition that came through: %+v", got)
	}
	if got := run.OverLibraries("v7", here); got.Max != 3 {
		t.Errorf("times the fastest library that did not hang: %+v", got)
	}
	if wrong := run.Wrong(); len(wrong) > 0 {
		t.Errorf("a library that hung is wrong: %+v", wrong)
	}
	run.Cells[4].Status, run.Cells[1].Status = Broken, Hung
	if wrong := run.Wrong(); len(wrong) != 2 {
		t.Errorf("a broken stock, and one of ours that hung: %+v", wrong)
	}
}

func TestGoals(t *testing.T) {
	goals := sample().Goals()
	find := func(what string) Goal {
		i := slices.IndexFunc(goals, func(g Goal) bool { return g.What == what })
		if i < 0 {
			t.Fatalf("no goal %q in %+v", what, goals)
		}
		return goals[i]
	}
	if g := find("v7: share of the limit"); g.Met || g.Want != "≥ 0.95" { // 0.9375
		t.Errorf("%+v", g)
	}
	if g := find("v7: requests a sale"); !g.Met {
		t.Errorf("%+v", g)
	}
	if g := find("v7: times the fastest library"); g.Met { // 2.3
		t.Errorf("%+v", g)
	}
	if g := find("v8: times v7"); !g.Met {
		t.Errorf("%+v", g)
	}
}
