package lab

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"lockstep/internal/language"
	"lockstep/internal/verdict"
)

// Parallel is how many labs run side by side: they mostly wait.
const DefaultParallel = 6

// MatrixRun says how a matrix is run.
type MatrixRun struct {
	Environment Environment
	In          language.Language // that it is told in
	Quick       bool              // only the cells that take little time
	Parallel    int               // how many labs at a time

	Begin  func(m Matrix, toRun map[string]int) // before the first cell: what there is, and how many cells of each row will be run
	OnCell func(CellEvent)                      // about each cell, one at a time
}

// CellEvent is news of a cell: it is being run, or it was.
type CellEvent struct {
	Anomaly, Strategy string
	Ended             bool
	Cell              Cell // once it ends
}

// observe runs a lab with a lock, and gives what that has shown, and a sentence about it.
type observe func(ctx context.Context, l Lab, lock string) (verdict.Verdict, string, error)

// task is a cell that is to be run.
type task struct {
	lab      Lab
	strategy string
	cell     Cell
}

// Compute runs the cells. What cannot be run on this machine is not, and says why. An error is only that ctx ended.
func (run MatrixRun) Compute(ctx context.Context) (Matrix, error) {
	known := sweeps{}
	return run.compute(ctx, func(ctx context.Context, l Lab, lock string) (verdict.Verdict, string, error) {
		if l.Anomaly != "" {
			return l.search(ctx, lock, known, run.In)
		}
		result, err := l.Run(ctx, run.Environment, Play{Lock: lock, Redis: Embedded, In: run.In})
		return result.Observed, result.Sentence + result.Reason, err // one of the two
	})
}

func (run MatrixRun) compute(ctx context.Context, observe observe) (Matrix, error) {
	m, toRun := blank(run.In), map[string]int{}
	var waiting, working []task
	for _, l := range All() {
		for _, s := range m.Strategies {
			cell := m.Cells[l.Name][s]
			switch {
			case cell.Ran(): // there is nothing to run
				continue
			case run.Quick && !l.isQuick(s):
				cell.NotRun = m.notQuick()
				m.Cells[l.Name][s] = cell
				continue
			case l.Anomaly == "": // it waits more than it works
				waiting = append(waiting, task{l, s, cell})
			default:
				working = append(working, task{l, s, cell})
			}
			toRun[l.Name]++
		}
	}
	run.Begin(m, toRun)
	err := run.each(ctx, m, waiting, max(run.Parallel, 1), observe)
	if err == nil { // what works has the machine for itself: beside it, what waits would be late
		err = run.each(ctx, m, working, 1, observe)
	}
	return m, err
}

// isQuick reports whether a cell is among the quick ones: a lab with the locks that it is about; of the explorer's, what one short
// exploration shows, and the locks of which all explorations are short.
func (l Lab) isQuick(lock string) bool {
	if l.Anomaly == "" {
		return slices.Contains(l.Locks(), lock)
	}
	return l.Expects(lock).Observed == verdict.Broken || slices.Contains([]string{"v0", "v1", "v4", "local", "atomic"}, lock)
}

// each runs so many tasks at a time, and puts what they show into the matrix.
func (run MatrixRun) each(ctx context.Context, m Matrix, tasks []task, parallel int, observe observe) error {
	var telling sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, t := range tasks {
		row, cell := m.Cells[t.lab.Name], t.cell
		tell := func(ends bool) {
			telling.Lock()
			defer telling.Unlock()
			row[t.strategy] = cell
			run.OnCell(CellEvent{Anomaly: t.lab.Name, Strategy: t.strategy, Ended: ends, Cell: cell})
		}
		group.Go(func() error {
			if ctx.Err() == nil {
				tell(false)
				cell.run(ctx, t, observe, run.In)
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			tell(true)
			return nil
		})
	}
	return group.Wait()
}

func (c *Cell) run(ctx context.Context, t task, observe observe, in language.Language) {
	began := time.Now()
	observed, says, err := observe(ctx, t.lab, t.strategy)
	if err != nil {
		observed, says = verdict.Unknown, explain(err, in)
	}
	if c.NotRun = lacking(err).In(in); c.NotRun == "" {
		c.Observed, c.Says = observed, says
	}
	c.Seconds = time.Since(began).Seconds()
}
