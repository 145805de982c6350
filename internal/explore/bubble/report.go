package bubble

import (
	"fmt"
	"strings"
)

// Report configures the messages in which a public package reports the result of a search.
type Report struct {
	Package    string                       // package name that begins each message
	NoneFound  string                       // phrase for a search without violations, such as "no anomaly"
	ReplayCall func(schedule string) string // returns the Go call that replays a schedule

	// Evidence qualifies the result after a search. vacuous is the reason why an empty result proves nothing, and note the reason why a
	// violation may be spurious; "" if there is none.
	Evidence func() (vacuous, note string)
}

// Explore searches all schedules and fails the test for each violation, with the schedule, its drawing, and the call that replays it. It
// also fails the test if the search is incomplete or proves nothing.
func (e *Explorer) Explore(report Report) {
	e.t.Helper()
	r, err := e.Search()
	if err != nil {
		e.t.Fatalf("%s: %v", report.Package, err)
	}
	for _, v := range r.Violations {
		reproduced, err := e.Reproduce(strings.Fields(v.Schedule), v.Kind)
		if err != nil {
			e.t.Errorf("%s: %s: it was found once, but could not be reproduced: %v", report.Package, v.Schedule, err)
		}
		e.t.Errorf("%s: %s: %s\n\n%s\nAgain: %s", report.Package, v.Kind, v.Says, reproduced.Drawing, report.ReplayCall(v.Schedule))
	}
	vacuous, note := report.Evidence()
	nothing := fmt.Sprintf("%s: %s in %d runs, %d states, all schedules of up to %d steps",
		report.Package, report.NoneFound, r.Runs, r.States, r.Depth)
	switch {
	case len(r.Violations) > 0 && note != "":
		e.t.Errorf("%s: this may be a false alarm: %s", report.Package, note)
	case len(r.Violations) > 0:
	case vacuous != "":
		e.t.Errorf("%s; but that proves nothing: %s", nothing, vacuous)
	case r.Incomplete != "":
		e.t.Errorf("%s; but the search is not complete: %s", nothing, r.Incomplete)
	case !r.Complete:
		e.t.Logf("%s; there are longer ones", nothing)
	default:
		e.t.Logf("%s: %s in every schedule: %d runs, %d states, up to %d steps; chance repeated %d runs%s",
			report.Package, report.NoneFound, r.Runs, r.States, r.Depth, r.RepeatedRuns, unusedFaultsText(r.UnusedFaults))
	}
}

// unusedFaultsText returns a clause that lists the faults that have happened in no run; "" if there are none.
func unusedFaultsText(faults []string) string {
	if len(faults) == 0 {
		return ""
	}
	return "; never happened: " + strings.Join(faults, ", ")
}

// Replay runs one schedule and logs its drawing. It fails the test for each violation, or if the code cannot take the steps any more.
func (e *Explorer) Replay(report Report, schedule string) {
	e.t.Helper()
	reproduced, err := e.Reproduce(strings.Fields(schedule), "")
	if err != nil {
		e.t.Fatalf("%s: %v", report.Package, err)
	}
	e.t.Logf("%s", reproduced.Drawing)
	for _, v := range reproduced.Violations {
		e.t.Errorf("%s: %s: %s", report.Package, v.Kind, v.Says)
	}
}
