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

	number   int  // lowest that no other has
	inFlight int  // sales
	outdated bool // made of settings that are no longer in force
	closing  bool
}

// asks notes that a sale asks to be let in: until it is answered, it may be in flight already.
func (s *Shop) asks(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sales[id] = nil
}

// begins notes that a sale is in flight in a run, and returns how it is made.
func (s *Shop) begins(ctx context.Context, id string, run history.Run) (*Sale, error) {
	sale, first, err := s.joinSession(id, run)
	if first {
		s.closeUnused(ctx)
	}
	return sale, err
}

// joinSession counts a sale in the session of its run, and reports whether it is the first to see that run.
func (s *Shop) joinSession(id string, run history.Run) (sale *Sale, first bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first = s.lastRun.ID != run.ID
	if first {
		s.lastRun = run
	}
	joined, err := s.sessionOf(run)
	if err != nil {
		return nil, first, err
	}
	joined.inFlight++
	s.sales[id] = joined
	return &joined.Sale, first, nil
}

// ends notes that a sale is over.
func (s *Shop) ends(ctx context.Context, id string) {
	if s.leaveSession(id) {
		s.closeUnused(ctx)
	}
}

// leaveSession counts a sale as over, and reports whether it was the last one of a run that is over.
func (s *Shop) leaveSession(id string) (last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.sales[id]
	delete(s.sales, id)
	if left == nil {
		return false
	}
	left.inFlight--
	return s.isUnused(left)
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
	for _, session := range s.sessions {
		n += int64(session.inFlight)
	}
	return n
}

// sessionOf returns the session of a run, a new one if need be. s.mu is held.
func (s *Shop) sessionOf(run history.Run) (*session, error) {
	for _, session := range s.sessions {
		if session.Run.ID == run.ID && !session.outdated && !session.closing {
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
		Think: settings.Think, Nested: settings.Nested, Update: row.Update, Backoff: settings.Backoff, Slots: s.slots,
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

// isUnused reports whether a session is to be closed: its run is over, and no sale is in flight in it. s.mu is held.
func (s *Shop) isUnused(session *session) bool {
	over := session.outdated || session.Run.ID != s.lastRun.ID
	return over && session.inFlight == 0 && !session.closing
}

// unused returns the sessions to be closed. No sale joins them from now on.
func (s *Shop) unused() (unused []*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		if s.isUnused(session) {
			session.closing = true
			unused = append(unused, session)
		}
	}
	return unused
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
