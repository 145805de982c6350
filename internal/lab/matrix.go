package lab

import (
	"strings"

	"lockstep/internal/evolution"
	"lockstep/internal/language"
	"lockstep/internal/strategy"
	"lockstep/internal/verdict"
)

// Matrix is the table of all labs and all strategies. Observed verdicts come only from runs.
type Matrix struct {
	Strategies []string                   `json:"strategies"`
	Anomalies  []Anomaly                  `json:"anomalies"`
	Cells      map[string]map[string]Cell `json:"cells"` // cells by anomaly and strategy

	in language.Language // language of the texts
}

// Anomaly is a row of the matrix.
type Anomaly struct {
	Name  string `json:"name"`
	Claim string `json:"claim"` // promise of a strategy that holds
}

// Cell is the result of one strategy for one anomaly.
type Cell struct {
	Observed verdict.Verdict `json:"observed,omitempty"` // observed verdict; empty: not run
	Expected verdict.Verdict `json:"expected"`
	Why      string          `json:"why"`               // reason for the expectation
	How      string          `json:"how,omitempty"`     // command that reproduces the cell; empty: none
	NotRun   string          `json:"not_run,omitempty"` // reason why the cell was not run
	Says     string          `json:"says,omitempty"`    // sentence about the run; it may differ between runs
	Seconds  float64         `json:"seconds,omitempty"` // duration of the run
}

// AsExpected reports whether the observed verdict is the expected one.
func (c Cell) AsExpected() bool { return c.Observed == c.Expected }

// HasRun reports whether the cell has an observed verdict.
func (c Cell) HasRun() bool { return c.Observed != "" }

// IsUnexpected reports whether the observed verdict differs from the expected one.
func (c Cell) IsUnexpected() bool { return c.HasRun() && !c.AsExpected() }

// ExitCode returns 0 if all cells that ran are as expected. Otherwise it returns 2 if all unexpected cells are unknown, and 1 if not.
func (m Matrix) ExitCode() int {
	unknown := m.Count(func(c Cell) bool { return c.IsUnexpected() && c.Observed == verdict.Unknown })
	return verdict.Search{Found: m.Count(Cell.IsUnexpected) > unknown, Complete: unknown == 0}.Verdict().ExitCode()
}

// Count returns the number of cells for which matches reports true.
func (m Matrix) Count(matches func(Cell) bool) (n int) {
	for _, row := range m.Cells {
		for _, c := range row {
			if matches(c) {
				n++
			}
		}
	}
	return n
}

// ExpectedMatrix returns the matrix with each expected verdict as the observed one.
func ExpectedMatrix(in language.Language) Matrix {
	m := newMatrix(in)
	for _, row := range m.Cells {
		for s, c := range row {
			c.Observed = c.Expected
			row[s] = c
		}
	}
	return m
}

// newMatrix returns the matrix before a run. Only the cells to which their lab does not apply have an observed verdict: n/a.
func newMatrix(in language.Language) Matrix {
	m := Matrix{Strategies: evolution.Names(), Cells: map[string]map[string]Cell{}, in: in}
	for _, l := range All() {
		m.Anomalies = append(m.Anomalies, Anomaly{Name: l.Name, Claim: l.Claim.In(in)})
		m.Cells[l.Name] = map[string]Cell{}
		for _, s := range evolution.Table() {
			e := l.Expects(s.Name)
			c := Cell{Expected: e.Verdict, Why: e.Why.In(in)}
			if c.Expected == verdict.NA {
				c.Observed = verdict.NA
			} else {
				c.How = l.cellCommand(s)
			}
			m.Cells[l.Name][s.Name] = c
		}
	}
	return m
}

// cellCommand returns the command that reproduces the cell of a strategy.
func (l Lab) cellCommand(s strategy.Strategy) string {
	if l.Anomaly == "" {
		return l.command(s.Name)
	}
	scenario, ok := l.scenario(s)
	if !ok {
		return "explore --all"
	}
	words := []string{"explore", s.Name}
	if flags := scenario.String(); flags != "" {
		words = append(words, flags)
	}
	return strings.Join(append(words, "--anomaly", string(l.Anomaly)), " ")
}
