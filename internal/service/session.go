package service

import (
	"context"
	"fmt"
	"sync/atomic"

	"lockstep/internal/service/history"
	"lockstep/internal/strategy"
)

// session is this replica's part of a run: its sale is made once, and shared by all. There is one at a time. It ends when another run is
// on, or a change is going on, and its last sale has ended: nothing that its lock keeps, a place in a queue or fencing tokens, is passed to
// a sale of the next one.
type session struct {
	sale     *Sale
	admitted int  // sales in flight
	closing  bool // its last sale has ended
}

// admit lets a sale into the current run, until leave is called. It fails with ErrRunChanging while that is being changed, and with
// ErrRunChanged if this replica was silent for so long that the others may have changed the run without it.
func (s *Shop) admit() (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Clock.Now().Sub(s.lastBeat) >= Lifetime {
		return nil, ErrRunChanged
	}
	if s.session == nil && s.changeOwner == "" {
		started, err := newSession(s, s.run)
		if err != nil {
			return nil, err
		}
		s.session = started
	}
	if s.session == nil || s.session.isOver(s.run, s.changeOwner) {
		return nil, ErrRunChanging
	}
	s.session.admitted++
	s.session.sale.recordOverlap(int64(s.session.admitted))
	return s.session, nil
}

// leave ends what admit began.
func (s *Shop) leave(ctx context.Context, finished *session) {
	s.mu.Lock()
	finished.admitted--
	last := finished.admitted == 0 && finished.isOver(s.run, s.changeOwner)
	s.mu.Unlock()
	if last {
		s.closeSession(ctx)
		s.beatRequested.set()
	}
}

// isOver reports whether no more sales are admitted to a session, while that run is on, or is being changed.
func (s *session) isOver(run history.Run, changeOwner string) bool {
	return changeOwner != "" || s.sale.Run.ID != run.ID
}

// newSession makes the session of a run in a shop whose mu is held.
func newSession(s *Shop, run history.Run) (*session, error) {
	row, ok := s.Strategies[run.Lock]
	if !ok {
		return nil, fmt.Errorf("the run is on with lock %q, which this replica does not know", run.Lock)
	}
	settings, parts := s.settings.Tuned(run.Tuning), s.Parts
	parts.TTL, parts.RetryInterval = settings.TTL, settings.RetryInterval
	parts.WaitTimeout, parts.HandOffLimit = settings.WaitTimeout, settings.HandOffLimit
	sale := &Sale{
		Run: run, Stock: s.Stock, Clock: s.Clock, Log: s.Log, Observers: s.Observers, Replica: s.Replica,
		Think: settings.Think, Nested: settings.Nested, Update: row.Update, Slots: s.slots, Overlap: new(atomic.Int64),
		Backoff: Backoff{Delay: settings.RetryInterval, MaxDuration: settings.WaitTimeout, Clock: s.Clock, Rand: parts.Rand},
	}
	if settings.Nested == 0 { // else it may be the lock of the sale itself that refuses a nested call
		parts.Refused = func() { sale.recordOverlap(2) }
	}
	switch segmented := row.Update == strategy.Segmented; {
	case !segmented:
		sale.Locker = row.New(parts)
	case run.Segments > 0:
		sale.Segments = SegmentLocks(row, parts, run.Segments)
	default:
		return nil, fmt.Errorf("%w: the run is on with lock %s, and does not say in how many segments its stock is", ErrBadData, run.Lock)
	}
	return &session{sale: sale}, nil
}

// closeSession gives back what the lock of a session keeps that is over, once it has no sale in flight.
func (s *Shop) closeSession(ctx context.Context) {
	s.mu.Lock()
	over := s.session
	if over == nil || !over.isOver(s.run, s.changeOwner) || over.admitted > 0 || over.closing {
		s.mu.Unlock()
		return
	}
	over.closing = true
	s.mu.Unlock()
	if err := over.sale.Close(ctx); err != nil {
		s.Log.Warn("giving back the lock of a run that is over", "run", over.sale.Run.ID, "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = nil
	s.notify()
}
