package result

import (
	"fmt"
	"slices"
)

// Goal is a number that the project wants to reach, and what was measured.
type Goal struct {
	Contestant string
	What       string
	At         Condition
	Want       string
	Got        Spread
	Met        bool // by the median, and every repetition completed
}

// share is what a goal for the share of the limit is called. No lock can beat the limit: a share above mostShare says that the machine was
// disturbed while the limit ran, so it meets no goal.
const (
	share     = "share of the limit"
	mostShare = 1.1
)

// Others are called so.
const (
	longestWait  = "longest wait over mean"
	never        = "buyers that never got in"
	requests     = "requests per sale"
	lockRequests = "requests of the lock per sale"
	publishes    = "PUBLISH per sale"
	fastest      = "times the fastest library"
	timesLimit   = "times the limit" // of several locks, which have no limit in common
)

// target is what one contestant should reach under the conditions where it applies.
type target struct {
	applies    bool
	contestant string
	what       string
	least      bool // want is a lower bound; else an upper one
	want       float64
	got        Spread
}

// Goals compares what was measured with what the project wants to reach. A contestant that was not measured has no goals there. One that
// was measured and did not complete has missed them.
func (r Run) Goals() []Goal {
	var goals []Goal
	for _, at := range r.Conditions() {
		for _, t := range r.targets(at) {
			completed, measured := r.completed(t.contestant, at)
			if !t.applies || !measured || completed && t.got.N == 0 { // in the last case it is the other contestant that is missing
				continue
			}
			goal := Goal{Contestant: t.contestant, What: t.what, At: at, Want: fmt.Sprintf("≤ %g", t.want), Got: t.got}
			goal.Met = completed && t.got.Median <= t.want
			if t.least {
				goal.Want, goal.Met = fmt.Sprintf("≥ %g", t.want), completed && t.got.Median >= t.want
			}
			if t.what == share && t.got.Median > mostShare {
				goal.Met = false
			}
			goals = append(goals, goal)
		}
	}
	return goals
}

// completed reports whether all repetitions of a contestant are OK, and whether there are any.
func (r Run) completed(contestant string, at Condition) (completed, measured bool) {
	completed = true
	for _, c := range r.Of(contestant, at) {
		measured, completed = true, completed && c.Status == OK
	}
	return completed, measured
}

// targets are all goals at one condition. A wait of many buyers is bounded only together with the buyers that never got in, as their waits
// are cut at the end of the window.
func (r Run) targets(at Condition) []target {
	return slices.Concat(r.insideTargets(at), r.betweenTargets(at))
}

// insideTargets are those of the locks that know no order between processes, and of sales without a lock.
func (r Run) insideTargets(at Condition) []target {
	many, far, alone, one := at.kinds()
	of := func(name string, number Number) Spread { return r.Spread(name, at, number) }
	return []target{
		{far && at.Buyers <= 16, "v7", "times v6 (what the fence costs)", true, 0.9, r.Over("v7", "v6", at)},

		{many && far && one, "v8", share, true, 0.45, of("v8", Share)},
		{many && one, "v8", requests, false, 4.2, of("v8", Requests)},
		{many && far && !one, "v8", requests, false, 5, of("v8", Requests)}, // one contender a process polls
		{many && far && one, "v8", longestWait, false, 2, of("v8", MaxOverMean)},
		{many && one, "v8", never, false, 0, of("v8", Never)},

		{many && far && one, "v9", share, true, 0.75, of("v9", Share)},
		{many && one, "v9", requests, false, 2.5, of("v9", Requests)},

		{alone, "redlock", requests, false, 12.2, of("redlock", Requests)},
		{many && one, "redlock", requests, false, 2.5, of("redlock", Requests)},
		{many && far && one, "redlock", share, true, 0.75, of("redlock", Share)},

		{many && far && one, "segmented", timesLimit, true, 6, of("segmented", Share)},

		{true, "atomic", requests, false, 1.05, of("atomic", Requests)},
		{alone, "optimistic", requests, false, 5.1, of("optimistic", Requests)},
	}
}

// betweenTargets are those of the locks that processes hand over in order.
func (r Run) betweenTargets(at Condition) []target {
	many, far, alone, one := at.kinds()
	spread := !one && at.Buyers <= at.Processes // each sale in another process: read, write, hand over, one after the other
	fair := 3.0
	if far && one {
		fair = 2
	}
	of := func(name string, number Number) Spread { return r.Spread(name, at, number) }
	return []target{
		{many && far && !spread, "v10", share, true, 0.95, of("v10", Share)},
		{many && far && spread, "v10", share, true, 0.55, of("v10", Share)},
		{many && far && !spread, "v10", requests, false, 2.2, of("v10", Requests)},
		{many && far && spread, "v10", requests, false, 4.2, of("v10", Requests)},
		{many, "v10", longestWait, false, fair, of("v10", MaxOverMean)},
		{many, "v10", never, false, 0, of("v10", Never)},
		{far && at.Buyers == 200, "v10", fastest, true, 2.4, r.OverLibraries("v10", at)},
		{!far && at.Buyers >= 16, "v10", fastest, true, 1, r.OverLibraries("v10", at)},
		{alone, "v10", "times v4 (less 3 % for noise)", true, 0.97, r.Over("v10", "v4", at)},
		{alone, "v10", publishes, false, 0, of("v10", Publishes)},

		{alone && far, "v11", share, true, 0.95, of("v11", Share)},
		{alone, "v11", lockRequests, false, 0.1, of("v11", LockRequests)},
		{alone, "v11", publishes, false, 0, of("v11", Publishes)},
		{many && far, "v11", "times v10 (less 3 % for noise)", true, 0.97, r.Over("v11", "v10", at)},
		{many && far && !spread, "v11", requests, false, 2.2, of("v11", Requests)},
		{many && far && spread, "v11", requests, false, 4.2, of("v11", Requests)},
		{many, "v11", longestWait, false, fair, of("v11", MaxOverMean)},
		{many, "v11", never, false, 0, of("v11", Never)},
	}
}

// kinds says whether there are many buyers, a round trip added, one buyer alone, and one process.
func (c Condition) kinds() (many, far, alone, one bool) {
	one = c.Processes == 1
	return c.Buyers > 1, c.AddedMillis > 0, c.Buyers == 1 && one, one
}
