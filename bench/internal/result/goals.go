package result

import (
	"fmt"
	"slices"
)

// Goal is a bound that the project has set for a contestant, with the measured value.
type Goal struct {
	Contestant string
	What       string
	Condition  Condition
	Want       string
	Measured   Summary
	IsMet      bool // the median is within the bound, and all repetitions completed
}

// shareName is the name of the goal for the share of the limit. No lock can beat the limit. A share above maxShare means that the machine
// was disturbed while the limit ran, so it meets no goal.
const (
	shareName = "share of the limit"
	maxShare  = 1.1
)

// Names of the other goals.
const (
	longestWaitName  = "longest wait over mean"
	neverName        = "buyers that never got in"
	requestsName     = "requests per sale"
	lockRequestsName = "requests of the lock per sale"
	publishesName    = "PUBLISH per sale"
	fastestName      = "times the fastest library"
	timesLimitName   = "times the limit" // name for several locks, which together may exceed the limit
)

// target is a goal under one condition, before it is compared.
type target struct {
	applies      bool
	contestant   string
	what         string
	isLowerBound bool // want is a lower bound; false: an upper bound
	want         float64
	measured     Summary
}

// Goals compares the results with the bounds that the project has set. A contestant that was not measured under a condition has no goals
// there. One that was measured and did not complete has missed them.
func (r Run) Goals() []Goal {
	var goals []Goal
	for _, at := range r.Conditions() {
		for _, t := range r.targets(at) {
			completed, measured := r.completed(t.contestant, at)
			if !t.applies || !measured || completed && t.measured.N == 0 { // completed without a value: the contestant to compare with is missing
				continue
			}
			goal := Goal{Contestant: t.contestant, What: t.what, Condition: at, Want: fmt.Sprintf("≤ %g", t.want), Measured: t.measured}
			goal.IsMet = completed && t.measured.Median <= t.want
			if t.isLowerBound {
				goal.Want, goal.IsMet = fmt.Sprintf("≥ %g", t.want), completed && t.measured.Median >= t.want
			}
			if t.what == shareName && t.measured.Median > maxShare {
				goal.IsMet = false
			}
			goals = append(goals, goal)
		}
	}
	return goals
}

// completed reports whether all repetitions of a contestant are OK, and whether there are any.
func (r Run) completed(contestant string, at Condition) (completed, measured bool) {
	completed = true
	for _, c := range r.CellsOf(contestant, at) {
		measured, completed = true, completed && c.Status == OK
	}
	return completed, measured
}

// targets returns all goals under one condition. The longest wait is bounded together with the number of buyers that were never served,
// because their waits are cut off at the end of the window.
func (r Run) targets(at Condition) []target {
	return slices.Concat(r.localTargets(at), r.crossProcessTargets(at))
}

// localTargets returns the goals of the locks without an order between processes, and of sales without a lock.
func (r Run) localTargets(at Condition) []target {
	many, far, alone, one := at.describe()
	of := func(name string, number Metric) Summary { return r.Summary(name, at, number) }
	return []target{
		{far && at.Buyers <= 16, "v7", "times v6 (what the fence costs)", true, 0.9, r.Ratio("v7", "v6", at)},

		{many && far && one, "v8", shareName, true, 0.45, of("v8", Share)},
		{many && one, "v8", requestsName, false, 4.2, of("v8", Requests)},
		{many && far && !one, "v8", requestsName, false, 5, of("v8", Requests)}, // a single contender of each process polls
		{many && far && one, "v8", longestWaitName, false, 2, of("v8", MaxOverMean)},
		{many && one, "v8", neverName, false, 0, of("v8", NeverServed)},

		{many && far && one, "v9", shareName, true, 0.75, of("v9", Share)},
		{many && one, "v9", requestsName, false, 2.5, of("v9", Requests)},

		{alone, "redlock", requestsName, false, 12.2, of("redlock", Requests)},
		{many && one, "redlock", requestsName, false, 2.5, of("redlock", Requests)},
		{many && far && one, "redlock", shareName, true, 0.75, of("redlock", Share)},

		{many && far && one, "segmented", timesLimitName, true, 6, of("segmented", Share)},

		{true, "atomic", requestsName, false, 1.05, of("atomic", Requests)},
		{alone, "optimistic", requestsName, false, 5.1, of("optimistic", Requests)},
	}
}

// crossProcessTargets returns the goals of the locks that processes hand over in order.
func (r Run) crossProcessTargets(at Condition) []target {
	many, far, alone, one := at.describe()
	spread := !one && at.Buyers <= at.Processes // each sale is in another process
	fair := 3.0
	if far && one {
		fair = 2
	}
	of := func(name string, number Metric) Summary { return r.Summary(name, at, number) }
	return []target{
		{many && far && !spread, "v10", shareName, true, 0.95, of("v10", Share)},
		{many && far && spread, "v10", shareName, true, 0.55, of("v10", Share)},
		{many && far && !spread, "v10", requestsName, false, 2.2, of("v10", Requests)},
		{many && far && spread, "v10", requestsName, false, 4.2, of("v10", Requests)},
		{many, "v10", longestWaitName, false, fair, of("v10", MaxOverMean)},
		{many, "v10", neverName, false, 0, of("v10", NeverServed)},
		{far && at.Buyers == 200, "v10", fastestName, true, 2.4, r.RatioToLibraries("v10", at)},
		{!far && at.Buyers >= 16, "v10", fastestName, true, 1, r.RatioToLibraries("v10", at)},
		{alone, "v10", "times v4 (less 3 % for noise)", true, 0.97, r.Ratio("v10", "v4", at)},
		{alone, "v10", publishesName, false, 0, of("v10", Publishes)},

		{alone && far, "v11", shareName, true, 0.95, of("v11", Share)},
		{alone, "v11", lockRequestsName, false, 0.1, of("v11", LockRequests)},
		{alone, "v11", publishesName, false, 0, of("v11", Publishes)},
		{many && far, "v11", "times v10 (less 3 % for noise)", true, 0.97, r.Ratio("v11", "v10", at)},
		{many && far && !spread, "v11", requestsName, false, 2.2, of("v11", Requests)},
		{many && far && spread, "v11", requestsName, false, 4.2, of("v11", Requests)},
		{many, "v11", longestWaitName, false, fair, of("v11", MaxOverMean)},
		{many, "v11", neverName, false, 0, of("v11", NeverServed)},
	}
}

// describe returns whether there are many buyers, an added round trip, a single buyer, and one process.
func (c Condition) describe() (many, far, alone, one bool) {
	one = c.Processes == 1
	return c.Buyers > 1, c.AddedMillis > 0, c.Buyers == 1 && one, one
}
