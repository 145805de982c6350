package cli

import (
	"fmt"
	"io"
	"strings"

	"lockstep/internal/lab"
)

// mostOpenRows is how many rows are drawn again and again: those above them are finished.
const mostOpenRows = 8

// matrixShown shows a matrix while it is computed: in a terminal as a table whose rows fill, otherwise as a line for each cell.
type matrixShown struct {
	out      io.Writer
	live     bool
	matrix   lab.Matrix
	pending  map[string]int // cells of a row that are not run yet
	finished int            // rows that are on the screen for good
	drawn    int            // rows below them
	furthest int            // the last row of which a cell was begun
}

func newMatrixShown(out io.Writer) *matrixShown {
	return &matrixShown{out: out, live: isTerminal(out), pending: map[string]int{}}
}

// begin is told what there will be.
func (s *matrixShown) begin(m lab.Matrix, toRun map[string]int) {
	s.matrix, s.pending = m, toRun
	if columns := width(s.out); columns > 0 && columns < m.Width() {
		s.live = false // lines that are cut cannot be drawn again
	}
	if s.live {
		fmt.Fprint(s.out, m.Head())
	}
}

// tell is told of each cell.
func (s *matrixShown) tell(news lab.CellEvent) {
	if news.Ended {
		s.pending[news.Anomaly]--
		s.matrix.Cells[news.Anomaly][news.Strategy] = news.Cell
	}
	if s.live {
		s.draw(news.Anomaly)
	} else if news.Ended {
		fmt.Fprintf(s.out, "%s, %s: %s\n", news.Anomaly, news.Strategy, s.matrix.Outcome(news.Cell))
	}
}

// draw draws the rows that are not finished, again.
func (s *matrixShown) draw(begun string) {
	for i, a := range s.matrix.Anomalies {
		if a.Name == begun {
			s.furthest = max(s.furthest, i)
		}
	}
	b := &strings.Builder{}
	if s.drawn > 0 {
		fmt.Fprintf(b, "\033[%dA\r\033[J", s.drawn)
	}
	for s.finished <= s.furthest && s.pending[s.matrix.Anomalies[s.finished].Name] == 0 {
		fmt.Fprintln(b, s.matrix.Line(s.matrix.Anomalies[s.finished].Name))
		s.finished++
	}
	s.drawn = 0
	for _, a := range s.matrix.Anomalies[s.finished : max(s.furthest, s.finished-1)+1] {
		if s.drawn < mostOpenRows {
			fmt.Fprintln(b, s.matrix.Line(a.Name))
			s.drawn++
		}
	}
	fmt.Fprint(s.out, b.String())
}

// end leaves the whole table behind.
func (s *matrixShown) end() {
	if len(s.matrix.Anomalies) == 0 {
		return
	}
	if !s.live {
		fmt.Fprintf(s.out, "\n%s", s.matrix.Head())
	} else if s.drawn > 0 {
		fmt.Fprintf(s.out, "\033[%dA\r\033[J", s.drawn)
	}
	for _, a := range s.matrix.Anomalies[s.finished:] {
		fmt.Fprintln(s.out, s.matrix.Line(a.Name))
	}
}
