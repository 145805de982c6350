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

	Begin  func(m Matrix, toRun map[string]int) // called before the first cell; toRun: number of cells to run, by row
	OnCell func(CellEvent)                      // called when a cell starts and when it ends; calls do not overlap
}

// CellEvent reports that the run of a cell has started or ended.
type CellEvent struct {
	Anomaly, Strategy string // row and column of the cell
	Ended             bool   // false: the run starts
	Cell              Cell   // result of the run, once it has ended
}

// observer runs a lab with a lock. It returns the observed verdict and a sentence about it.
type observer func(ctx context.Context, l Lab, lock string) (verdict.Verdict, string, error)

// task is a cell to run.
type task struct {
	lab      Lab
	strategy string
	cell     Cell
}

// Compute runs the cells and returns the matrix. A cell that this machine cannot run has the reason in NotRun. Compute fails only if ctx
// ends, with the cause of ctx.
func (run MatrixRun) Compute(ctx context.Context) (Matrix, error) {
	known := sweepCache{}
	return run.compute(ctx, func(ctx context.Context, l Lab, lock string) (verdict.Verdict, string, error) {
		if l.Anomaly != "" {
			return l.search(ctx, lock, known, run.In)
		}
		result, err := l.Run(ctx, run.Environment, RunOptions{Lock: lock, Redis: Embedded, In: run.In})
		return result.Observed, result.Sentence + result.Reason, err // exactly one of the two is set
	})
}

// compute is Compute with a replaceable observer.
func (run MatrixRun) compute(ctx context.Context, observe observer) (Matrix, error) {
	m, toRun := newMatrix(run.In), map[string]int{}
	var waiting, working []task // tasks that mostly wait, and tasks that mostly compute
	for _, l := range All() {
		for _, s := range m.Strategies {
			cell := m.Cells[l.Name][s]
			switch {
			case cell.HasRun(): // The verdict is known without a run.
				continue
			case run.Quick && !l.isQuick(s):
				cell.NotRun = m.notQuickText()
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
	err := run.runTasks(ctx, m, waiting, max(run.Parallel, 1), observe)
	if err == nil { // Explorations run one at a time, after the labs, whose timers they would delay.
		err = run.runTasks(ctx, m, working, 1, observe)
	}
	return m, err
}

// isQuick reports whether a quick run includes the lab with a lock. It includes a lab on the service with the locks that the lab runs by
// default, and a lab in the explorer if the anomaly is expected, or if all explorations of the lock take little time.
func (l Lab) isQuick(lock string) bool {
	if l.Anomaly == "" {
		return slices.Contains(l.Locks(), lock)
	}
	return l.Expects(lock).Verdict == verdict.Broken || slices.Contains([]string{"v0", "v1", "v4", "local", "atomic"}, lock)
}

// runTasks runs tasks, at most parallel at a time, and writes their results into the matrix.
func (run MatrixRun) runTasks(ctx context.Context, m Matrix, tasks []task, parallel int, observe observer) error {
	var reporting sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, t := range tasks {
		row, cell := m.Cells[t.lab.Name], t.cell
		report := func(ended bool) {
			reporting.Lock()
			defer reporting.Unlock()
			row[t.strategy] = cell
			run.OnCell(CellEvent{Anomaly: t.lab.Name, Strategy: t.strategy, Ended: ended, Cell: cell})
		}
		group.Go(func() error {
			if ctx.Err() == nil {
				report(false)
				cell.run(ctx, t, observe, run.In)
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			report(true)
			return nil
		})
	}
	return group.Wait()
}

// run runs the task of a cell and stores the result.
func (c *Cell) run(ctx context.Context, t task, observe observer, in language.Language) {
	began := time.Now()
	observed, says, err := observe(ctx, t.lab, t.strategy)
	if err != nil {
		observed, says = verdict.Unknown, errorText(err, in)
	}
	if c.NotRun = missingNeed(err).In(in); c.NotRun == "" {
		c.Observed, c.Says = observed, says
	}
	c.Seconds = time.Since(began).Seconds()
}
