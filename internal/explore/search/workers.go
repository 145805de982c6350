package search

import (
	"cmp"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/internal/explore/engine"
)

// expand takes every transition that there is after each of these nodes. The answer has their order.
func (s *search) expand(level []int32) ([][]child, error) {
	children := make([][]child, len(level))
	var next atomic.Int64
	err := s.work(func(worker int, system System) (err error) {
		for err == nil && !s.stopped() {
			n := int(next.Add(1)) - 1
			if n >= len(level) {
				break
			}
			children[n], err = s.children(worker, system, level[n])
		}
		return err
	})
	return children, err
}

// work lets each worker do its part, and waits for them. The first that fails stops the others. If a bound was hit, some may still be at
// work afterwards.
func (s *search) work(part func(worker int, system System) error) error {
	failed := make([]error, len(s.systems))
	var wg sync.WaitGroup
	for i, system := range s.systems {
		wg.Go(func() {
			ended := false
			defer func() {
				if !ended {
					failed[i] = s.gone(i)
					s.halt(errEnough)
				}
			}()
			failed[i] = part(i, system)
			if ended = true; failed[i] != nil {
				s.halt(errEnough)
			}
		})
	}
	switch ended, blind := s.wait(&wg); {
	case !ended && s.bounded():
		return nil
	case blind != nil:
		return blind
	case !ended:
		return s.watch.busy()
	default:
		return errors.Join(failed...)
	}
}

// gone ends the run of a worker whose goroutine the code under test has ended, together with its own.
func (s *search) gone(worker int) error {
	run := s.watch.runs[worker].Load()
	if run == nil {
		return engine.ErrGone
	}
	(*run).Close()
	return cmp.Or((*run).Err(), engine.ErrGone)
}

// often is how often a search tells how far it is.
const often = 200 * time.Millisecond

// wait waits for the workers, and tells meanwhile how far they are. It reports false when none gets on any more, and gives an error for one
// that waits where nobody sees it.
func (s *search) wait(wg *sync.WaitGroup) (ended bool, blind error) {
	done := make(chan struct{})
	s.working = done
	go func() { wg.Wait(); close(done) }()
	ticker := time.NewTicker(cmp.Or(s.bounds.Patience, 20*time.Second))
	defer ticker.Stop()
	telling := time.NewTicker(often)
	defer telling.Stop()
	halted := s.ctx.Done()
	for before := int64(-1); ; {
		select {
		case <-done:
			return true, blind
		case <-halted:
			halted = nil
			if s.bounded() || blind != nil {
				ticker.Reset(time.Second) // to end the schedules that run
				before = -1
			}
		case <-s.watch.next.C:
			if blind = cmp.Or(blind, s.watch.look()); blind != nil {
				s.halt(errEnough)
			}
		case <-telling.C:
			if loops := s.watch.checkLoop(); loops != nil {
				s.halt(errEnough)
				return false, loops
			}
			s.tell()
		case <-ticker.C:
			now := s.schedules.Load()
			if now == before {
				return false, blind
			}
			before = now
		}
	}
}
