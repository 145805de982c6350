package cli

import (
	"fmt"
	"io"
	"strings"

	"lockstep/internal/lab"
)

// maxOpenRows is the maximum number of unfinished rows that are redrawn at each update.
const maxOpenRows = 8

// matrixProgress shows a matrix while it is computed: in a terminal as a table whose rows fill up, otherwise as one line for each cell.
type matrixProgress struct {
	out      io.Writer
	live     bool // whether rows are redrawn; otherwise one line is printed for each cell
	matrix   lab.Matrix
	pending  map[string]int // number of cells still to run, by the row's anomaly
	finished int            // number of leading rows that are complete and not redrawn
	drawn    int            // number of rows on the screen that the next update erases
	furthest int            // index of the last row of which a cell has started
}

// newMatrixProgress returns the progress of a matrix, to be shown on out.
func newMatrixProgress(out io.Writer) *matrixProgress {
	return &matrixProgress{out: out, live: isTerminal(out), pending: map[string]int{}}
}

// begin prints the head of the table, and stores how many cells each row will run.
func (p *matrixProgress) begin(m lab.Matrix, toRun map[string]int) {
	p.matrix, p.pending = m, toRun
	if columns := terminalWidth(p.out); columns > 0 && columns < m.Width() {
		p.live = false // Wrapped lines take more than one row, so the cursor would end in the wrong place.
	}
	if p.live {
		fmt.Fprint(p.out, m.Head())
	}
}

// update redraws the table when a cell starts or ends.
func (p *matrixProgress) update(change lab.CellEvent) {
	if change.Ended {
		p.pending[change.Anomaly]--
		p.matrix.Cells[change.Anomaly][change.Strategy] = change.Cell
	}
	if p.live {
		p.draw(change.Anomaly)
	} else if change.Ended {
		fmt.Fprintf(p.out, "%s, %s: %s\n", change.Anomaly, change.Strategy, p.matrix.Outcome(change.Cell))
	}
}

// draw redraws the unfinished rows. A cell of the row anomaly has started or ended.
func (p *matrixProgress) draw(anomaly string) {
	for i, a := range p.matrix.Anomalies {
		if a.Name == anomaly {
			p.furthest = max(p.furthest, i)
		}
	}
	b := &strings.Builder{}
	if p.drawn > 0 {
		fmt.Fprintf(b, "\033[%dA\r\033[J", p.drawn)
	}
	for p.finished <= p.furthest && p.pending[p.matrix.Anomalies[p.finished].Name] == 0 {
		fmt.Fprintln(b, p.matrix.Line(p.matrix.Anomalies[p.finished].Name))
		p.finished++
	}
	p.drawn = 0
	for _, a := range p.matrix.Anomalies[p.finished : max(p.furthest, p.finished-1)+1] {
		if p.drawn < maxOpenRows {
			fmt.Fprintln(b, p.matrix.Line(a.Name))
			p.drawn++
		}
	}
	fmt.Fprint(p.out, b.String())
}

// end leaves the complete table on the screen.
func (p *matrixProgress) end() {
	if len(p.matrix.Anomalies) == 0 {
		return
	}
	if !p.live {
		fmt.Fprintf(p.out, "\n%s", p.matrix.Head())
	} else if p.drawn > 0 {
		fmt.Fprintf(p.out, "\033[%dA\r\033[J", p.drawn)
	}
	for _, a := range p.matrix.Anomalies[p.finished:] {
		fmt.Fprintln(p.out, p.matrix.Line(a.Name))
	}
}
