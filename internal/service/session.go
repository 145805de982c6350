package service

import (
	"context"
	"fmt"
	"slices"

	"lockstep/internal/lock"
	"lockstep/internal/service/history"
)

// session is this replica's part of one run: its Sale is made once, and shared by all. It has a lock of its own, so that nothing that a
// process still has of the lock of a run that Redis forgot, a place in a queue or fencing tokens, is passed to a sale of the next run.
// While both exist they compete as two processes do.
type session struct {
	Sale

	number  int  // lowest that no other has
	over    bool // no sale joins it any more: another run is on, or other settings are in force
	closing bool // its last sale has ended
}

// asks notes that a sale asks to be let in: until it is answered, it may be in flight already.
func (s *Shop) asks(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sales[id] = nil
}

// begins notes that a sale is in flight in a run, and returns how it is made.
func (s *Shop) begins(ctx context.Context, id string, run history.Run) (*Sale, error) {
	s.mu.Lock()
	if s.lastRun.ID != run.ID {
		s.sees(run)
		defer s.closeUnused(ctx) // of the run before, after the unlock
	}
	defer s.mu.Unlock()
	joined, err := s.sessionOf(run)
	if err != nil {
		return nil, err
	}
	s.sales[id] = joined
	return &joined.Sale, nil
}

// ends notes that a sale is over.
func (s *Shop) ends(ctx context.Context, id string) {
	s.mu.Lock()
	left := s.sales[id]
	delete(s.sales, id)
	over := left != nil && left.over
	s.mu.Unlock()
	if over {
		s.closeUnused(ctx)
	}
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
	for _, session := range s.sales {
		if session != nil {
			n++
		}
	}
	return n
}

// sessionOf returns the session of a run, a new one if need be. s.mu is held.
func (s *Shop) sessionOf(run history.Run) (*session, error) {
	for _, session := range s.sessions {
		if session.Run.ID == run.ID && !session.over {
			return session, nil
		}
	}
	row, known := s.settings.Strategies[run.Lock]
	if !known {
		return nil, fmt.Errorf("the run is on with lock %q, which this replica does not know", run.Lock)
	}
	number := s.freeNumber()
	settings := s.settings.tuned(run.Tuning)
	if number > 0 {
		settings.Lock.Process = fmt.Sprintf("%s.%d", settings.Lock.Process, number)
	}
	begun := &session{number: number, Sale: Sale{
		Run: run, Locker: row.New(settings.Lock), Stock: s.Stock, Clock: s.Clock, Log: s.Log, Observers: s.Observers, Replica: s.Replica,
		Think: settings.Think, Nested: settings.Nested, Update: row.Update, Slots: s.slots,
		Backoff: Backoff{
			Delay: settings.Lock.RetryInterval, MaxDuration: settings.Lock.WaitTimeout, Clock: s.Clock, Rand: settings.Lock.Rand,
		},
	}}
	s.sessions = append(s.sessions, begun)
	return begun, nil
}

// freeNumber returns the lowest number that no session has. s.mu is held.
func (s *Shop) freeNumber() (number int) {
	for slices.ContainsFunc(s.sessions, func(other *session) bool { return other.number == number }) {
		number++
	}
	return number
}

// unused returns the sessions to be closed: those that are over, and have no sale in flight.
func (s *Shop) unused() (unused []*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		if session.over && !session.closing && !s.isUsed(session) {
			session.closing = true
			unused = append(unused, session)
		}
	}
	return unused
}

// isUsed reports whether a sale is in flight in a session. s.mu is held.
func (s *Shop) isUsed(session *session) bool {
	for _, of := range s.sales {
		if of == session {
			return true
		}
	}
	return false
}

// closeUnused gives back what the locks of unused sessions keep. Until then Redis may hear of their processes, so their numbers are not
// free before.
func (s *Shop) closeUnused(ctx context.Context) {
	for _, over := range s.unused() {
		if err := lock.Close(ctx, s.Clock, over.Locker); err != nil {
			s.Log.Warn("giving back the lock of a run that is over", "run", over.Run.ID, "error", err)
		}
		s.mu.Lock()
		s.sessions = slices.DeleteFunc(s.sessions, func(other *session) bool { return other == over })
		s.mu.Unlock()
	}
}
