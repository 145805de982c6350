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

// DefaultParallel is the number of labs that run in parallel by default. Labs mostly wait, so there are more than cores.
const DefaultParallel = 6

// MatrixRun holds the options of a run of the matrix.
type MatrixRun struct {
	Environment Environment
	In          language.Language // language of the texts
	Quick       bool              // run only the cells that take little time
	Parallel    int               // number of labs that run at the same time

	Begin  func(m Matrix, toRun map[string]int) // called before the first cell, with the number of cells to run by row
	OnCell func(CellEvent)                      // called when a cell starts and when it ends; calls do not overlap
}

// CellEvent reports that the run of a cell has started or ended.
type CellEvent struct {
	Anomaly, Strategy string
	Ended             bool
	Cell              Cell // result; set when the run has ended
}

// observe runs a lab with a lock. It returns the observed verdict and a sentence about it.
type observe func(ctx context.Context, l Lab, lock string) (verdict.Verdict, string, error)

// task is a cell to run.
type task struct {
	lab      Lab
	strategy string
	cell     Cell
}

// Compute runs the cells and returns the matrix. A cell that this machine cannot run says why in NotRun. The error is the cause of ctx.
func (run MatrixRun) Compute(ctx context.Context) (Matrix, error) {
	known := sweeps{}
	return run.compute(ctx, func(ctx context.Context, l Lab, lock string) (verdict.Verdict, string, error) {
		if l.Anomaly != "" {
			return l.search(ctx, lock, known, run.In)
		}
		result, err := l.Run(ctx, run.Environment, Play{Lock: lock, Redis: Embedded, In: run.In})
		return result.Observed, result.Sentence + result.Reason, err // exactly one of the two is set
	})
}

func (run MatrixRun) compute(ctx context.Context, observe observe) (Matrix, error) {
	m, toRun := blank(run.In), map[string]int{}
	var waiting, working []task
	for _, l := range All() {
		for _, s := range m.Strategies {
			cell := m.Cells[l.Name][s]
			switch {
			case cell.Ran(): // The verdict is known without a run.
				continue
			case run.Quick && !l.isQuick(s):
				cell.NotRun = m.notQuick()
				m.Cells[l.Name][s] = cell
				continue
			case l.Anomaly == "": // Such a lab waits more than it computes.
				waiting = append(waiting, task{l, s, cell})
			default:
				working = append(working, task{l, s, cell})
			}
			toRun[l.Name]++
		}
	}
	run.Begin(m, toRun)
	err := run.each(ctx, m, waiting, max(run.Parallel, 1), observe)
	if err == nil { // Explorations run alone: beside them the timers of labs would be late.
		err = run.each(ctx, m, working, 1, observe)
	}
	return m, err
}

// isQuick reports whether a quick run includes the cell. It includes labs with the locks that they are about, anomalies that one short
// exploration shows, and locks whose explorations are all short.
func (l Lab) isQuick(lock string) bool {
	if l.Anomaly == "" {
		return slices.Contains(l.Locks(), lock)
	}
	return l.Expects(lock).Observed == verdict.Broken || slices.Contains([]string{"v0", "v1", "v4", "local", "atomic"}, lock)
}

// each runs tasks, as many at a time as parallel says, and writes their results into the matrix.
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

// run runs the task of a cell and stores the result.
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
