package service

import (
	"fmt"

	"lockstep/internal/history"
	"lockstep/internal/lock"
)

// runLocker is the lock of one run. The next run has one of its own, so that nothing a process still has of the lock of a run that Redis
// forgot, a place or fencing tokens, is passed to a sale of the run that followed. While both are in use they compete as two processes do.
type runLocker struct {
	lock.Locker
	number int // lowest that no other has
	sales  int // that use it
}

// lockerOf gives the lock of a run, and what is to be called when the sale has ended.
func (s *Shop) lockerOf(run history.Run) (_ lock.Locker, giveBack func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.lockers // those in force now: other settings have others
	locker, made := all[run.ID]
	if !made {
		row, known := s.settings.Strategy[run.Lock]
		if !known {
			return nil, nil, fmt.Errorf("the run is on with lock %q, which this replica does not know", run.Lock)
		}
		number := freeNumber(all)
		parts := s.settings.Lock
		if number > 0 {
			parts.Process = fmt.Sprintf("%s.%d", parts.Process, number)
		}
		locker = &runLocker{Locker: row.New(parts), number: number}
		all[run.ID] = locker
	}
	locker.sales++
	return locker, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		locker.sales--
		for id, other := range all {
			if other.sales == 0 && id != s.lastRun.ID {
				delete(all, id)
			}
		}
	}, nil
}

// freeNumber gives the lowest number that no locker has.
func freeNumber(all map[string]*runLocker) int {
	taken := map[int]bool{}
	for _, locker := range all {
		taken[locker.number] = true
	}
	number := 0
	for taken[number] {
		number++
	}
	return number
}
