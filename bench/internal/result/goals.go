package result

import "fmt"

// Goal is something that was meant to be reached, and what was.
type Goal struct {
	What string
	At   Condition
	Want string
	Got  Spread
	Met  bool // by the median
}

// Goals compares with what the project meant to reach, as far as that was measured.
func (r Run) Goals() []Goal {
	var goals []Goal
	for _, at := range r.Conditions() {
		many, far := at.Waiters > 1, at.AddedMillis > 0
		fair := 3.0
		if far && at.Processes == 1 {
			fair = 2
		}
		alone := at.Waiters == 1 && at.Processes == 1
		for _, g := range []struct {
			applies bool
			what    string
			least   bool // want is the least there should be; else the most
			want    float64
			got     Spread
		}{
			{many && far, "v7: share of the limit", true, 0.95, r.Spread("v7", at, Share)},
			{many && far, "v7: requests a sale", false, 2.2, r.Spread("v7", at, Commands)},
			{many, "v7: longest wait over mean", false, fair, r.Spread("v7", at, MaxOverMean)},
			{far && at.Waiters == 200, "v7: times the fastest library", true, 2.4, r.OverLibraries("v7", at)},
			{!far && at.Waiters >= 16, "v7: times the fastest library", true, 1, r.OverLibraries("v7", at)},
			{alone, "v7: times v4, less 3 % of noise", true, 0.97, r.Over("v7", "v4", at)},
			{alone, "v7: PUBLISH a sale", false, 0, r.Spread("v7", at, Publishes)},
			{true, "v8: times v7", true, 0.9, r.Over("v8", "v7", at)},
			{alone, "v9: requests a sale", false, 12.2, r.Spread("v9", at, Commands)},
			{many && at.Processes == 1, "v9: requests a sale", false, 2.5, r.Spread("v9", at, Commands)},
			{many && far && at.Processes == 1, "v9: share of the limit", true, 0.75, r.Spread("v9", at, Share)},
			{true, "atomic: requests a sale", false, 1.05, r.Spread("atomic", at, Commands)},
			{alone, "optimistic: requests a sale", false, 5.1, r.Spread("optimistic", at, Commands)},
		} {
			if !g.applies || g.got.N == 0 {
				continue
			}
			goal := Goal{What: g.what, At: at, Want: fmt.Sprintf("≤ %g", g.want), Got: g.got, Met: g.got.Median <= g.want}
			if g.least {
				goal.Want, goal.Met = fmt.Sprintf("≥ %g", g.want), g.got.Median >= g.want
			}
			goals = append(goals, goal)
		}
	}
	return goals
}
