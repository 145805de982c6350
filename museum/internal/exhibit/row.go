package exhibit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/internal/lock/anomaly"
	"lockstep/museum/internal/library"
	"lockstep/museum/internal/play"
	"lockstep/museum/internal/search"
)

// Row is a schedule that shows an anomaly.
type Row struct {
	Library  string
	Scenario play.Scenario
	Yields   bool   // it needs goroutines to begin at once
	Modfile  string // of the program that it needs; "" for this one
	Anomaly  anomaly.Anomaly
	Steps    int
	Schedule string
}

// Explored is what was looked at in one scenario.
type Explored struct {
	Scenario play.Scenario
	Runs     int
	Depth    int
	Complete bool
	Took     time.Duration
}

// Shown is what a library has shown.
type Shown struct {
	Rows     []Row
	Explored []Explored
}

// Explore puts a library into scenarios, each for so many runs at most. A row is kept if no smaller scenario shows its anomaly as
// quickly.
func Explore(stage *play.Stage, l library.Library, scenarios []play.Scenario, runs int, yields bool) (shown Shown, _ error) {
	for _, in := range scenarios {
		result, err := search.Do(stage, l, in, search.Goal{Runs: runs, Anomalies: Anomalies()})
		if err != nil {
			return shown, fmt.Errorf("%s, %v: %w", l.Name, in, err)
		}
		shown.Explored = append(shown.Explored, Explored{in, result.Runs, result.Depth, result.Complete, result.Took})
		for _, f := range result.Found {
			row := Row{
				Library: l.Name, Scenario: in, Yields: yields, Anomaly: f.Anomaly,
				Steps: len(f.Schedule), Schedule: strings.Join(f.Schedule, " "),
			}
			if !slices.ContainsFunc(shown.Rows, row.follows) {
				shown.Rows = append(shown.Rows, row)
			}
		}
	}
	return shown, nil
}

// Tokens are the steps of a row's schedule.
func (r Row) Tokens() []string { return strings.Fields(r.Schedule) }

// follows reports whether a row is no news after another one.
func (r Row) follows(known Row) bool {
	return known.Anomaly == r.Anomaly && known.Steps <= r.Steps && known.Scenario.Within(r.Scenario)
}
