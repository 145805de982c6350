// Package matrix is the table of every anomaly and every strategy. Each cell is what a run has shown: of a lab, on the running service, or
// of an exploration, where no lab shows the anomaly. What was not run is never given as observed.
package matrix

import (
	"lockstep/internal/language"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/stage/lab"
)

// Matrix is the table.
type Matrix struct {
	Strategies []string                   `json:"strategies"`
	Anomalies  []Anomaly                  `json:"anomalies"`
	Cells      map[string]map[string]Cell `json:"cells"` // by anomaly, and by strategy
}

// Anomaly is a row.
type Anomaly struct {
	Name  string `json:"name"`
	Claim string `json:"claim"` // what a strategy that holds promises
}

// Cell is what became of a strategy.
type Cell struct {
	Observed lab.Observed `json:"observed,omitempty"` // empty: it was not run
	Expected lab.Observed `json:"expected"`
	Why      string       `json:"why"`               // of the expectation
	How      string       `json:"how,omitempty"`     // the command that shows it; empty where there is none
	NotRun   string       `json:"not_run,omitempty"` // why
	Says     string       `json:"says,omitempty"`    // what the run has shown, in a sentence; it may be another one next time
	Seconds  float64      `json:"seconds,omitempty"`
}

// AsExpected reports whether the cell was observed to be what is expected.
func (c Cell) AsExpected() bool { return c.Observed == c.Expected }

// Ran reports whether the cell was observed.
func (c Cell) Ran() bool { return c.Observed != "" }

// ExitCode is 0 if all that was run is as expected, 1 if a cell is not, and 2 if of a cell it cannot be said, although it should.
func (m Matrix) ExitCode() int {
	code := 0
	for _, row := range m.Cells {
		for _, c := range row {
			switch {
			case !c.Ran() || c.AsExpected():
			case c.Observed == lab.Unknown:
				code = 2
			default:
				return 1
			}
		}
	}
	return code
}

// Count counts the cells that have this.
func (m Matrix) Count(has func(Cell) bool) (n int) {
	for _, row := range m.Cells {
		for _, c := range row {
			if has(c) {
				n++
			}
		}
	}
	return n
}

// With gives this matrix with what was run for another one.
func (m Matrix) With(run Matrix) Matrix {
	together := m.like()
	for _, a := range m.Anomalies {
		for _, s := range m.Strategies {
			together.Cells[a.Name][s] = m.Cells[a.Name][s]
			if c, known := run.Cells[a.Name][s]; known && c.Ran() {
				together.Cells[a.Name][s] = c
			}
		}
	}
	return together
}

// like gives a matrix with the same rows and columns, and no cells.
func (m Matrix) like() Matrix {
	empty := Matrix{Strategies: m.Strategies, Anomalies: m.Anomalies, Cells: map[string]map[string]Cell{}}
	for _, a := range m.Anomalies {
		empty.Cells[a.Name] = map[string]Cell{}
	}
	return empty
}

// Expected is the matrix as it is expected to be: as if each cell had been run, and come out so.
func Expected() Matrix {
	m := blank(rows("", language.English))
	for _, row := range m.Cells {
		for s, c := range row {
			c.Observed, c.NotRun = c.Expected, ""
			row[s] = c
		}
	}
	return m
}

// blank is the matrix before anything was run: only what is not to be run at all has been said.
func blank(rows []row) Matrix {
	m := Matrix{Strategies: evolution.Names(), Cells: map[string]map[string]Cell{}}
	for _, r := range rows {
		m.Anomalies = append(m.Anomalies, Anomaly{Name: r.name(), Claim: r.claim()})
		m.Cells[r.name()] = map[string]Cell{}
		for _, s := range m.Strategies {
			e := r.expects(s)
			c := Cell{Expected: e.Observed, Why: e.Why}
			if c.Expected == lab.NA {
				c.Observed = lab.NA
			} else {
				c.How = r.how(s)
			}
			m.Cells[r.name()][s] = c
		}
	}
	return m
}
