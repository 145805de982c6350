package service

import (
	"context"
	"fmt"

	"lockstep/internal/lock"
	"lockstep/internal/service/history"
)

// runLocker is the lock of one run. The next run has one of its own, so that nothing a process still has of the lock of a run that Redis
// forgot, a place in a queue or fencing tokens, is passed to a sale of the next run. While both exist they compete as two processes do.
type runLocker struct {
	lock.Locker
	run      string // id
	number   int    // lowest that no other has
	outdated bool   // made of settings that are no longer in force
	closing  bool
}

// lockerOf gives the lock of a run. s.mu is held.
func (s *Shop) lockerOf(run history.Run) (*runLocker, error) {
	for _, locker := range s.lockers {
		if locker.run == run.ID && !locker.outdated && !locker.closing {
			return locker, nil
		}
	}
	row, known := s.settings.Strategies[run.Lock]
	if !known {
		return nil, fmt.Errorf("the run is on with lock %q, which this replica does not know", run.Lock)
	}
	number := s.freeNumber()
	parts := s.settings.tuned(run.Tuning).Lock
	if number > 0 {
		parts.Process = fmt.Sprintf("%s.%d", parts.Process, number)
	}
	locker := &runLocker{Locker: row.New(parts), run: run.ID, number: number}
	s.lockers = append(s.lockers, locker)
	return locker, nil
}

// freeNumber gives the lowest number that no locker has. s.mu is held.
func (s *Shop) freeNumber() int {
	taken := map[int]bool{}
	for _, locker := range s.lockers {
		taken[locker.number] = true
	}
	number := 0
	for taken[number] {
		number++
	}
	return number
}

// closeLockers drops the locks of runs that are over, once no sale of this replica uses them, and gives back what they keep.
func (s *Shop) closeLockers(ctx context.Context) {
	for _, locker := range s.unused() {
		if err := lock.Close(ctx, s.Clock, locker.Locker); err != nil {
			s.Log.Warn("giving back the lock of a run that is over", "run", locker.run, "error", err)
		}
		s.forget(locker)
	}
}

// unused gives the locks that closeLockers is to close. No sale gets them from now on.
func (s *Shop) unused() (unused []*runLocker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, locker := range s.lockers {
		over := locker.outdated || locker.run != s.lastRun.ID
		if over && !locker.closing && !s.uses(locker) {
			locker.closing = true
			unused = append(unused, locker)
		}
	}
	return unused
}

// forget makes a locker's number free: only now, for its process may be heard of by Redis until it is closed.
func (s *Shop) forget(closed *runLocker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var others []*runLocker
	for _, locker := range s.lockers {
		if locker != closed {
			others = append(others, locker)
		}
	}
	s.lockers = others
}
