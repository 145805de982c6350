package exhibit

import (
	"fmt"
	"slices"
	"testing"

	"lockstep/locktest"
	"lockstep/museum/internal/library"
)

// Row is a schedule that shows an anomaly.
type Row struct {
	Library  string
	Scenario Scenario
	Yields   bool   // whether new goroutines must run at once to show it
	Modfile  string // go.mod of the program that shows it; "": this one
	locktest.Counterexample
}

// Explored is what was looked at in one scenario.
type Explored struct {
	Scenario Scenario
	locktest.Result
}

// Findings are the schedules and searches of a library.
type Findings struct {
	Rows     []Row
	Explored []Explored
}

// Explore puts a library into scenarios, each for so many runs at most. A row is kept if no smaller scenario shows its anomaly as
// quickly.
func Explore(t *testing.T, l library.Library, scenarios []Scenario, runs int, yields bool) (shown Findings, _ error) {
	for _, in := range scenarios {
		result, err := locktest.Search(t, in.Config(l, runs, Anomalies()...), l.Open)
		if err != nil {
			return shown, fmt.Errorf("%s, %v: %w", l.Name, in, err)
		}
		shown.Explored = append(shown.Explored, Explored{in, result})
		for _, f := range result.Found {
			row := Row{Library: l.Name, Scenario: in, Yields: yields, Counterexample: f}
			if !slices.ContainsFunc(shown.Rows, row.follows) {
				shown.Rows = append(shown.Rows, row)
			}
		}
	}
	return shown, nil
}

// follows reports whether a row is no news after another one.
func (r Row) follows(known Row) bool {
	return known.Anomaly == r.Anomaly && known.Steps() <= r.Steps() && known.Scenario.Within(r.Scenario)
}
