package search

import (
	"cmp"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// expandLevel takes every step that is possible after each of these nodes, and returns the children in the order of the nodes.
func (s *search[S]) expandLevel(level []int32) ([][]child[S], error) {
	children := make([][]child[S], len(level))
	var next atomic.Int64
	err := s.runWorkers(func(system System[S]) (err error) {
		for err == nil && !s.isStopped() {
			n := int(next.Add(1)) - 1
			if n >= len(level) {
				break
			}
			children[n], err = s.expandNode(system, level[n])
		}
		return err
	})
	return children, err
}

// runWorkers runs part in each worker, and waits for all workers. The first worker that fails stops the others. If a bound was hit, some
// workers may still run when runWorkers returns.
func (s *search[S]) runWorkers(part func(system System[S]) error) error {
	errs := make([]error, len(s.systems))
	var wg sync.WaitGroup
	for i, system := range s.systems {
		wg.Go(func() {
			returned := false
			defer func() {
				if !returned {
					errs[i] = cmp.Or(system.DiagnoseRun(WorkerExited), ErrNoProgress)
					s.cancel(errFinished)
				}
			}()
			errs[i] = part(system)
			if returned = true; errs[i] != nil {
				s.cancel(errFinished)
			}
		})
	}
	switch returned, blind := s.awaitWorkers(&wg); {
	case !returned && s.hasHitBound():
		return nil
	case blind != nil:
		return blind
	case !returned:
		return cmp.Or(s.diagnoseRuns(NoProgress), ErrNoProgress)
	default:
		return errors.Join(errs...)
	}
}

// diagnoseRuns returns the first error that a system reports for its current run.
func (s *search[S]) diagnoseRuns(why CheckReason) (err error) {
	for _, system := range s.systems {
		err = cmp.Or(err, system.DiagnoseRun(why))
	}
	return err
}

// The interval between two diagnoses of the runs. It begins short, since code that waits unseen mostly does so in its first schedules, and
// grows to checkInterval.
const firstCheckInterval, checkInterval = 5 * time.Millisecond, 200 * time.Millisecond

// defaultStallTimeout is the default of Bounds.StallTimeout: long enough for the slowest step on a loaded machine.
const defaultStallTimeout = 20 * time.Second

// gracePeriod is the time that runs in progress have to end after the search was stopped.
const gracePeriod = time.Second

// awaitWorkers waits for the workers, and reports progress meanwhile. returned is false if no worker made progress for the stall timeout.
// blind is an error that a system has reported for its run.
func (s *search[S]) awaitWorkers(wg *sync.WaitGroup) (returned bool, blind error) {
	done := make(chan struct{})
	s.workersDone = done
	go func() { wg.Wait(); close(done) }()
	stalled := time.NewTicker(cmp.Or(s.bounds.StallTimeout, defaultStallTimeout))
	defer stalled.Stop()
	reporting := time.NewTicker(checkInterval)
	defer reporting.Stop()
	halted := s.ctx.Done()
	for lastRuns := int64(-1); ; {
		select {
		case <-done:
			return true, blind
		case <-halted:
			halted = nil
			if s.hasHitBound() || blind != nil {
				stalled.Reset(gracePeriod)
				lastRuns = -1
			}
		case <-s.watchdogTimer.C:
			if blind = cmp.Or(blind, s.diagnoseRuns(PeriodicCheck)); blind != nil {
				s.cancel(errFinished)
			}
			s.watchInterval = min(s.watchInterval+s.watchInterval/2, checkInterval)
			s.watchdogTimer.Reset(s.watchInterval)
		case <-reporting.C:
			s.report()
		case <-stalled.C:
			runs := s.schedules.Load() + s.diverged.Load()
			if runs == lastRuns {
				return false, blind
			}
			lastRuns = runs
		}
	}
}
