package bubble

import (
	"fmt"
	"strings"
)

// Report is how a public package tells what a search has found.
type Report struct {
	Package string                       // name of the package, which its messages begin with
	Nothing string                       // words for a search that finds nothing: "no anomaly"
	Again   func(schedule string) string // makes the call that replays a schedule

	// Evidence says, after a search, why nothing is known although nothing was found, and what may make untrue what was found; "" if
	// nothing does.
	Evidence func() (vacuous, note string)
}

// Explore searches, and fails the test at what it finds: with the schedule, its drawing, and the call that replays it. It fails, too, if it
// could not look at everything.
func (s *Stage) Explore(report Report) {
	s.t.Helper()
	r, err := s.Search()
	if err != nil {
		s.t.Fatalf("%s: %v", report.Package, err)
	}
	for _, f := range r.Found {
		shown, err := s.Show(strings.Fields(f.Schedule), f.Kind)
		if err != nil {
			s.t.Errorf("%s: %s: it was found once, and no repetition shows it: %v", report.Package, f.Schedule, err)
		}
		s.t.Errorf("%s: %s: %s\n\n%s\nAgain: %s", report.Package, f.Kind, f.Says, shown.Drawing, report.Again(f.Schedule))
	}
	vacuous, note := report.Evidence()
	nothing := fmt.Sprintf("%s: %s in %d runs, %d states, all schedules of up to %d steps",
		report.Package, report.Nothing, r.Runs, r.States, r.Depth)
	switch {
	case len(r.Found) > 0 && note != "":
		s.t.Errorf("%s: this may be untrue: %s", report.Package, note)
	case len(r.Found) > 0:
	case vacuous != "":
		s.t.Errorf("%s; but that says nothing: %s", nothing, vacuous)
	case r.Incomplete != "":
		s.t.Errorf("%s; but the search is not complete: %s", nothing, r.Incomplete)
	case !r.Complete:
		s.t.Logf("%s; there are longer ones", nothing)
	default:
		s.t.Logf("%s: %s in every schedule: %d runs, %d states, up to %d steps; chance repeated %d runs%s",
			report.Package, report.Nothing, r.Runs, r.States, r.Depth, r.Chance, neverHappened(r.Never))
	}
}

// neverHappened says which faults have happened in no run: nothing is known of them.
func neverHappened(faults []string) string {
	if len(faults) == 0 {
		return ""
	}
	return "; never happened: " + strings.Join(faults, ", ")
}

// Replay runs one schedule, logs its drawing, and fails the test if it shows anything, or if the code cannot do its steps any more.
func (s *Stage) Replay(report Report, schedule string) {
	s.t.Helper()
	shown, err := s.Show(strings.Fields(schedule), "")
	if err != nil {
		s.t.Fatalf("%s: %v", report.Package, err)
	}
	s.t.Logf("%s", shown.Drawing)
	for _, f := range shown.Found {
		s.t.Errorf("%s: %s: %s", report.Package, f.Kind, f.Says)
	}
}
