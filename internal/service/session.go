package service

import (
	"context"
	"fmt"
	"sync/atomic"

	"lockstep/internal/lock"
	"lockstep/internal/service/history"
)

// session is this replica's part of a run: its Sale is made once, and shared by all. There is one at a time. It ends when another run is
// on, or a change is going on, and its last sale has ended: nothing that its lock keeps, a place in a queue or fencing tokens, is passed to
// a sale of the next one.
type session struct {
	Sale

	admitted int  // sales in flight
	closing  bool // its last sale has ended
}

// register notes that an order is asked for, until the function that it returns is called.
func (s *Shop) register(id string) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sales[id]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.sales[id]--; s.sales[id] == 0 {
			delete(s.sales, id)
		}
	}
}

// isHere reports whether an order is asked for.
func (s *Shop) isHere(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sales[id] > 0
}

// admit lets a sale into the current run, until leave is called. It fails with ErrRunChanging while that is being changed, and with
// ErrRunChanged if this replica was silent for so long that the others may have changed the run without it.
func (s *Shop) admit() (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Clock.Now().Sub(s.lastBeat) >= Lifetime {
		return nil, ErrRunChanged
	}
	if s.session == nil && s.changing == "" {
		begun, err := s.sessionOf(s.run)
		if err != nil {
			return nil, err
		}
		s.session = begun
	}
	if s.session == nil || s.isOver(s.session) {
		return nil, ErrRunChanging
	}
	s.session.admitted++
	s.session.recordOverlap(int64(s.session.admitted))
	return s.session, nil
}

// leave ends what admit began.
func (s *Shop) leave(ctx context.Context, of *session) {
	s.mu.Lock()
	of.admitted--
	last := of.admitted == 0 && s.isOver(of)
	s.mu.Unlock()
	if last {
		s.closeSession(ctx)
		s.wake()
	}
}

// isOver reports whether no more sales are admitted to a session. s.mu is held.
func (s *Shop) isOver(of *session) bool { return s.changing != "" || of.Run.ID != s.run.ID }

// sessionOf makes the session of a run. s.mu is held.
func (s *Shop) sessionOf(run history.Run) (*session, error) {
	row, known := s.Strategies[run.Lock]
	if !known {
		return nil, fmt.Errorf("the run is on with lock %q, which this replica does not know", run.Lock)
	}
	settings, parts := s.settings.Tuned(run.Tuning), s.Parts
	parts.TTL, parts.RetryInterval = settings.TTL, settings.RetryInterval
	parts.WaitTimeout, parts.HandOffLimit = settings.WaitTimeout, settings.HandOffLimit
	return &session{Sale: Sale{
		Run: run, Locker: row.New(parts), Stock: s.Stock, Clock: s.Clock, Log: s.Log, Observers: s.Observers, Replica: s.Replica,
		Think: settings.Think, Nested: settings.Nested, Update: row.Update, Slots: s.slots, Overlap: new(atomic.Int64),
		Backoff: Backoff{Delay: settings.RetryInterval, MaxDuration: settings.WaitTimeout, Clock: s.Clock, Rand: parts.Rand},
	}}, nil
}

// closeSession gives back what the lock of a session keeps that is over, once it has no sale in flight.
func (s *Shop) closeSession(ctx context.Context) {
	s.mu.Lock()
	over := s.session
	if over == nil || !s.isOver(over) || over.admitted > 0 || over.closing {
		s.mu.Unlock()
		return
	}
	over.closing = true
	s.mu.Unlock()
	if err := lock.Close(ctx, s.Clock, over.Locker); err != nil {
		s.Log.Warn("giving back the lock of a run that is over", "run", over.Run.ID, "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = nil
	s.notify()
}
