package search

import (
	"cmp"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// expand takes every step that there is after each of these nodes. The answer has their order.
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

// work lets each worker do its part, and waits for them. The first that fails stops the others. If a bound was hit, some may still be at
// work afterwards.
func (s *search[S]) runWorkers(part func(system System[S]) error) error {
	failed := make([]error, len(s.systems))
	var wg sync.WaitGroup
	for i, system := range s.systems {
		wg.Go(func() {
			ended := false
			defer func() {
				if !ended {
					failed[i] = cmp.Or(system.DiagnoseRun(WorkerExited), ErrNoProgress)
					s.cancel(errFinished)
				}
			}()
			failed[i] = part(system)
			if ended = true; failed[i] != nil {
				s.cancel(errFinished)
			}
		})
	}
	switch ended, blind := s.awaitWorkers(&wg); {
	case !ended && s.hasHitBound():
		return nil
	case blind != nil:
		return blind
	case !ended:
		return cmp.Or(s.diagnoseRuns(NoProgress), ErrNoProgress)
	default:
		return errors.Join(failed...)
	}
}

// lost asks all systems for their runs.
func (s *search[S]) diagnoseRuns(why CheckReason) (err error) {
	for _, system := range s.systems {
		err = cmp.Or(err, system.DiagnoseRun(why))
	}
	return err
}

// How often a search asks for its runs: at first, as blind code mostly waits in its first schedules, and later.
const firstCheckInterval, checkInterval = 5 * time.Millisecond, 200 * time.Millisecond

// wait waits for the workers, and tells meanwhile how far they are. It reports false when none gets on any more, and gives an error for a
// run that is lost.
func (s *search[S]) awaitWorkers(wg *sync.WaitGroup) (ended bool, blind error) {
	done := make(chan struct{})
	s.workersDone = done
	go func() { wg.Wait(); close(done) }()
	ticker := time.NewTicker(cmp.Or(s.bounds.Patience, 20*time.Second))
	defer ticker.Stop()
	reporting := time.NewTicker(checkInterval)
	defer reporting.Stop()
	halted := s.ctx.Done()
	for before := int64(-1); ; {
		select {
		case <-done:
			return true, blind
		case <-halted:
			halted = nil
			if s.hasHitBound() || blind != nil {
				ticker.Reset(time.Second) // to end the schedules that run
				before = -1
			}
		case <-s.watchTimer.C:
			if blind = cmp.Or(blind, s.diagnoseRuns(PeriodicCheck)); blind != nil {
				s.cancel(errFinished)
			}
			s.watchInterval = min(s.watchInterval+s.watchInterval/2, checkInterval)
			s.watchTimer.Reset(s.watchInterval)
		case <-reporting.C:
			s.report()
		case <-ticker.C:
			now := s.schedules.Load() + s.diverged.Load()
			if now == before {
				return false, blind
			}
			before = now
		}
	}
}
