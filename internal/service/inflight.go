package service

import (
	"context"

	"lockstep/internal/service/history"
)

// asks notes that a sale asks to be let in: until it is answered, it may be in flight already.
func (s *Shop) asks(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sales[id] = nil
}

// begins notes that a sale is in flight in a run, and gives what it is made of: the run's lock, and the settings in force.
func (s *Shop) begins(ctx context.Context, id string, run history.Run) (Sale, error) {
	s.saw(run)
	s.closeLockers(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	locker, err := s.lockerOf(run)
	if err != nil {
		return Sale{}, err
	}
	s.sales[id] = locker
	tuned := s.settings.tuned(run.Tuning)
	return Sale{
		Locker: locker, Stock: s.Stock, Clock: s.Clock, Log: s.Log, Observer: s.Observer, Witness: s.Witness,
		Replica: s.Replica, Think: tuned.Think, Nested: tuned.Nested, Update: s.settings.Strategies[run.Lock].Update,
		Backoff: s.settings.Backoff, Slots: s.slots,
	}, nil
}

// ends notes that a sale is over.
func (s *Shop) ends(ctx context.Context, id string) {
	s.mu.Lock()
	delete(s.sales, id)
	s.mu.Unlock()
	s.closeLockers(ctx)
}

// isHere reports whether a sale is in flight in this replica, or may be.
func (s *Shop) isHere(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, here := s.sales[id]
	return here
}

// inFlightHere counts the sales in flight in this replica.
func (s *Shop) inFlightHere() (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, locker := range s.sales {
		if locker != nil {
			n++
		}
	}
	return n
}

// uses reports whether a sale of this replica uses a locker. s.mu is held.
func (s *Shop) uses(locker *runLocker) bool {
	for _, used := range s.sales {
		if used == locker {
			return true
		}
	}
	return false
}
