package report

import (
	"fmt"
	"io"
	"math"
	"time"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/result"
	"lockstep/internal/evolution"
)

// Steps writes the figures of each step as evolution.Figures, for docs/MATRIX.md, the page and lockstep diff. Locks that did not complete
// are left out.
func Steps(w io.Writer, run result.Run, table []contestants.Contestant) error {
	if len(run.Pings) != 1 {
		return fmt.Errorf("the figures of the steps are for one delay, but this run has %d", len(run.Pings))
	}
	f := evolution.Figures{
		Date: run.Began.Format(time.DateOnly), Machine: fmt.Sprintf("%d × %s", run.Machine.Cores, run.Machine.CPU), Redis: run.Machine.Redis,
		RoundTripMillis: run.Pings[0].AddedMillis, Repetitions: run.Settings.Repeat,
	}
	for _, c := range table {
		if !c.IsStep() {
			continue
		}
		for _, at := range evolution.Conditions() {
			under := result.Condition{AddedMillis: f.RoundTripMillis, Processes: at.Processes, Buyers: at.Buyers}
			median := func(number result.Metric) float64 {
				return evolution.Round(run.Summary(c.Name, under, number).Median)
			}
			cell := evolution.Cell{
				Lock: c.Name, Condition: at, Share: median(result.Share), Commands: median(result.Requests), Wait: median(result.MaxOverMean),
			}
			if at == evolution.Alone() {
				cell.Wait = 0 // a single buyer waits for nobody
			}
			if !math.IsNaN(cell.Share) {
				f.Cells = append(f.Cells, cell)
			}
		}
	}
	return f.Write(w)
}
