package matrix

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"lockstep/internal/language"
	"lockstep/internal/stage/lab"
)

// Beside is how many labs run side by side: they mostly wait.
const Beside = 6

// leftOut is why a cell of a quick matrix was not run.
const leftOut = "it is not among the quick ones"

// Run says how a matrix is run.
type Run struct {
	Program string            // this one, for the replicas
	In      language.Language // that what was observed is told in
	Quick   bool              // only the cells that take little time
	Beside  int               // how many labs at a time

	Begin func(m Matrix, toRun map[string]int) // before the first cell: what there is, and how many cells of each row will be run
	Tell  func(Told)                           // about each cell, one at a time
}

// Told is news of a cell: it is being run, or it was.
type Told struct {
	Anomaly, Strategy string
	Ends              bool
	Cell              Cell // once it ends
}

// task is a cell that is to be run.
type task struct {
	row      row
	strategy string
	cell     Cell
}

// Compute runs the cells. What cannot be run on this machine is not, and says why. An error is only that ctx ended.
func (run Run) Compute(ctx context.Context) (Matrix, error) {
	return run.compute(ctx, rows(run.Program, run.In))
}

func (run Run) compute(ctx context.Context, all []row) (Matrix, error) {
	m := blank(all)
	var waiting, working []*task
	for _, r := range all {
		for _, s := range m.Strategies {
			t := &task{r, s, m.Cells[r.name()][s]}
			switch {
			case t.cell.Ran(): // there is nothing to run
			case run.Quick && !r.quick(s):
				t.cell.NotRun = leftOut
				m.Cells[r.name()][s] = t.cell
			case r.waits():
				waiting = append(waiting, t)
			default:
				working = append(working, t)
			}
		}
	}
	run.Begin(m.With(m), perRow(append(waiting, working...)))
	// What works has the machine for itself: beside it, what waits would be late.
	if err := run.each(ctx, waiting, max(run.Beside, 1)); err != nil {
		return Matrix{}, err
	}
	if err := run.each(ctx, working, 1); err != nil {
		return Matrix{}, err
	}
	for _, t := range append(waiting, working...) {
		m.Cells[t.row.name()][t.strategy] = t.cell
	}
	return m, nil
}

// perRow counts the cells of each row.
func perRow(tasks []*task) map[string]int {
	count := map[string]int{}
	for _, t := range tasks {
		count[t.row.name()]++
	}
	return count
}

// each runs so many of these at a time.
func (run Run) each(ctx context.Context, tasks []*task, beside int) error {
	var telling sync.Mutex
	tell := func(t *task, ends bool) {
		telling.Lock()
		defer telling.Unlock()
		run.Tell(Told{Anomaly: t.row.name(), Strategy: t.strategy, Ends: ends, Cell: t.cell})
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(beside)
	for _, t := range tasks {
		group.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			tell(t, false)
			t.run(ctx)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			tell(t, true)
			return nil
		})
	}
	return group.Wait()
}

// run runs a cell.
func (t *task) run(ctx context.Context) {
	began := time.Now()
	seen, err := t.row.observe(ctx, t.strategy)
	t.cell.Seconds = time.Since(began).Seconds()
	switch {
	case lab.IsUnavailable(err):
		t.cell.NotRun = err.Error()
	case err != nil:
		t.cell.Observed, t.cell.Says = lab.Unknown, err.Error()
	default:
		t.cell.Observed, t.cell.Says = seen.observed, seen.says
	}
}
