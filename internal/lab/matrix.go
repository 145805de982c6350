package lab

import (
	"strings"

	"lockstep/internal/evolution"
	"lockstep/internal/language"
	"lockstep/internal/strategy"
	"lockstep/internal/verdict"
)

// Matrix is the table of all labs and all strategies. Each cell is what a run has shown. What was not run is never given as observed.
type Matrix struct {
	Strategies []string                   `json:"strategies"`
	Anomalies  []Anomaly                  `json:"anomalies"`
	Cells      map[string]map[string]Cell `json:"cells"` // by anomaly, and by strategy

	in language.Language // of its texts
}

// Anomaly is a row.
type Anomaly struct {
	Name  string `json:"name"`
	Claim string `json:"claim"` // what a strategy that holds promises
}

// Cell is the result of one strategy in a row.
type Cell struct {
	Observed verdict.Verdict `json:"observed,omitempty"` // empty: it was not run
	Expected verdict.Verdict `json:"expected"`
	Why      string          `json:"why"`               // of the expectation
	How      string          `json:"how,omitempty"`     // the command that shows it; empty where there is none
	NotRun   string          `json:"not_run,omitempty"` // why
	Says     string          `json:"says,omitempty"`    // what the run has shown, in a sentence; it may be another one next time
	Seconds  float64         `json:"seconds,omitempty"`
}

// AsExpected reports whether the cell was observed to be what is expected.
func (c Cell) AsExpected() bool { return c.Observed == c.Expected }

// Ran reports whether the cell was observed.
func (c Cell) Ran() bool { return c.Observed != "" }

// Unlike reports whether the cell was observed to be something else.
func (c Cell) Unlike() bool { return c.Ran() && !c.AsExpected() }

// ExitCode gives 0 if all that was run is as expected, 1 if a cell is not, and 2 if of a cell it cannot be said, although it should.
func (m Matrix) ExitCode() int {
	unknown := m.Count(func(c Cell) bool { return c.Unlike() && c.Observed == verdict.Unknown })
	return verdict.Search{Found: m.Count(Cell.Unlike) > unknown, Complete: unknown == 0}.Verdict().ExitCode()
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

// Expected gives the matrix as it is expected to be: as if each cell had been run, and come out so.
func Expected(in language.Language) Matrix {
	m := blank(in)
	for _, row := range m.Cells {
		for s, c := range row {
			c.Observed = c.Expected
			row[s] = c
		}
	}
	return m
}

// blank gives the matrix before anything was run: only what is not to be run at all has been said.
func blank(in language.Language) Matrix {
	m := Matrix{Strategies: evolution.Names(), Cells: map[string]map[string]Cell{}, in: in}
	for _, l := range All() {
		m.Anomalies = append(m.Anomalies, Anomaly{Name: l.Name, Claim: l.Claim.In(in)})
		m.Cells[l.Name] = map[string]Cell{}
		for _, s := range evolution.Table() {
			e := l.Expects(s.Name)
			c := Cell{Expected: e.Observed, Why: e.Why.In(in)}
			if c.Expected == verdict.NA {
				c.Observed = verdict.NA
			} else {
				c.How = l.how(s)
			}
			m.Cells[l.Name][s.Name] = c
		}
	}
	return m
}

func (l Lab) how(s strategy.Strategy) string {
	if l.Anomaly == "" {
		return l.command(s.Name)
	}
	in, one := l.scenario(s)
	if !one {
		return "explore --all"
	}
	words := []string{"explore", s.Name}
	if flags := in.String(); flags != "" {
		words = append(words, flags)
	}
	return strings.Join(append(words, "--anomaly", string(l.Anomaly)), " ")
}
