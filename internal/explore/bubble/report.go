package bubble

import (
	"fmt"
	"strings"
)

// Report is how a public package tells what a search has found.
type Report struct {
	Package    string                       // name of the package, which its messages begin with
	NoneFound  string                       // words for a search that finds nothing: "no anomaly"
	ReplayCall func(schedule string) string // makes the call that replays a schedule

	// Evidence says, after a search, why nothing is known although nothing was found, and what may make untrue what was found; "" if
	// nothing does.
	Evidence func() (vacuous, note string)
}

// Explore searches, and fails the test at what it finds: with the schedule, its drawing, and the call that replays it. It fails, too, if it
// could not look at everything.
func (e *Explorer) Explore(report Report) {
	e.t.Helper()
	r, err := e.Search()
	if err != nil {
		e.t.Fatalf("%s: %v", report.Package, err)
	}
	for _, f := range r.Violations {
		reproduced, err := e.Reproduce(strings.Fields(f.Schedule), f.Kind)
		if err != nil {
			e.t.Errorf("%s: %s: it was found once, and no repetition shows it: %v", report.Package, f.Schedule, err)
		}
		e.t.Errorf("%s: %s: %s\n\n%s\nAgain: %s", report.Package, f.Kind, f.Says, reproduced.Drawing, report.ReplayCall(f.Schedule))
	}
	vacuous, note := report.Evidence()
	nothing := fmt.Sprintf("%s: %s in %d runs, %d states, all schedules of up to %d steps",
		report.Package, report.NoneFound, r.Runs, r.States, r.Depth)
	switch {
	case len(r.Violations) > 0 && note != "":
		e.t.Errorf("%s: this may be untrue: %s", report.Package, note)
	case len(r.Violations) > 0:
	case vacuous != "":
		e.t.Errorf("%s; but that says nothing: %s", nothing, vacuous)
	case r.Incomplete != "":
		e.t.Errorf("%s; but the search is not complete: %s", nothing, r.Incomplete)
	case !r.Complete:
		e.t.Logf("%s; there are longer ones", nothing)
	default:
		e.t.Logf("%s: %s in every schedule: %d runs, %d states, up to %d steps; chance repeated %d runs%s",
			report.Package, report.NoneFound, r.Runs, r.States, r.Depth, r.RepeatedRuns, unusedFaultsText(r.UnusedFaults))
	}
}

// neverHappened says which faults have happened in no run: nothing is known of them.
func unusedFaultsText(faults []string) string {
	if len(faults) == 0 {
		return ""
	}
	return "; never happened: " + strings.Join(faults, ", ")
}

// Replay runs one schedule, logs its drawing, and fails the test if it shows anything, or if the code cannot do its steps any more.
func (e *Explorer) Replay(report Report, schedule string) {
	e.t.Helper()
	reproduced, err := e.Reproduce(strings.Fields(schedule), "")
	if err != nil {
		e.t.Fatalf("%s: %v", report.Package, err)
	}
	e.t.Logf("%s", reproduced.Drawing)
	for _, f := range reproduced.Violations {
		e.t.Errorf("%s: %s: %s", report.Package, f.Kind, f.Says)
	}
}
