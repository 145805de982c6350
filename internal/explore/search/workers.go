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

// runWorkers lets each worker do its part, and waits for all. The first that fails stops the others. If a bound was hit, some may still
// run when it returns.
func (s *search[S]) runWorkers(part func(system System[S]) error) error {
	failed := make([]error, len(s.systems))
	var wg sync.WaitGroup
	for i, system := range s.systems {
		wg.Go(func() {
			returned := false
			defer func() {
				if !returned {
					failed[i] = cmp.Or(system.DiagnoseRun(WorkerExited), ErrNoProgress)
					s.cancel(errFinished)
				}
			}()
			failed[i] = part(system)
			if returned = true; failed[i] != nil {
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
		return errors.Join(failed...)
	}
}

// diagnoseRuns asks all systems for errors in their current runs.
func (s *search[S]) diagnoseRuns(why CheckReason) (err error) {
	for _, system := range s.systems {
		err = cmp.Or(err, system.DiagnoseRun(why))
	}
	return err
}

// The interval at which the search diagnoses its runs. It starts short, since blind code mostly waits in its first schedules, and grows
// to the longer one.
const firstCheckInterval, checkInterval = 5 * time.Millisecond, 200 * time.Millisecond

// defaultPatience is the default of Bounds.Patience: long enough for the slowest step on a loaded machine.
const defaultPatience = 20 * time.Second

// gracePeriod is the time that current runs get to end after the search was stopped.
const gracePeriod = time.Second

// awaitWorkers waits for the workers, and reports progress meanwhile. It returns false when no worker makes progress any more, and an
// error if a run was diagnosed as blind.
func (s *search[S]) awaitWorkers(wg *sync.WaitGroup) (returned bool, blind error) {
	done := make(chan struct{})
	s.workersDone = done
	go func() { wg.Wait(); close(done) }()
	patience := time.NewTicker(cmp.Or(s.bounds.StallTimeout, defaultPatience))
	defer patience.Stop()
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
				patience.Reset(gracePeriod)
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
		case <-patience.C:
			runs := s.schedules.Load() + s.diverged.Load()
			if runs == lastRuns {
				return false, blind
			}
			lastRuns = runs
		}
	}
}
