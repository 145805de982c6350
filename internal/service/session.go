package service

import (
	"context"
	"fmt"
	"sync/atomic"

	"lockstep/internal/service/history"
	"lockstep/internal/strategy"
)

// session is this replica's part of a run. It has one Sale, which all sales of the run share. There is one session at a time; it ends when
// another run has begun or a change is in progress, and its last sale has ended. So nothing that its lock keeps, such as a place in a queue
// or a fencing token, passes to a sale of the next run.
type session struct {
	sale     *Sale
	admitted int  // sales in flight
	closing  bool // true: its last sale has ended, and its lock is being closed
}

// admit admits a sale to the current run until leave is called. It fails with ErrRunChanging while the run is being changed, and with
// ErrRunChanged if this replica sent no heartbeat for so long that the others may have changed the run without it.
func (s *Shop) admit() (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Clock.Now().Sub(s.lastBeat) >= ReplicaLifetime {
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

// leave ends a sale admitted by admit.
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

// isOver reports whether the session admits no more sales, given the current run and the owner of a change in progress, if any.
func (s *session) isOver(run history.Run, changeOwner string) bool {
	return changeOwner != "" || s.sale.Run.ID != run.ID
}

// newSession returns the session of a run. s.mu is held.
func newSession(s *Shop, run history.Run) (*session, error) {
	row, ok := s.Strategies[run.Lock]
	if !ok {
		return nil, fmt.Errorf("the current run uses lock %q, which this replica does not know", run.Lock)
	}
	settings, parts := s.settings.WithTuning(run.Tuning), s.Parts
	parts.TTL, parts.RetryInterval = settings.TTL, settings.RetryInterval
	parts.WaitTimeout, parts.HandOffLimit = settings.WaitTimeout, settings.HandOffLimit
	sale := &Sale{
		Run: run, Stock: s.Stock, Clock: s.Clock, Log: s.Log, Observers: s.Observers, Replica: s.Replica,
		Think: settings.Think, Nested: settings.Nested, Update: row.Update, Slots: s.slots, Overlap: new(atomic.Int64),
		Backoff: Backoff{Delay: settings.RetryInterval, MaxDuration: settings.WaitTimeout, Clock: s.Clock, Rand: parts.Rand},
	}
	if settings.Nested == 0 { // With nested calls the refusal may come from the lock of the sale itself.
		parts.Refused = func() { sale.recordOverlap(2) }
	}
	if row.Update != strategy.Segmented {
		sale.Locker = row.New(parts)
		return &session{sale: sale}, nil
	}
	if run.Segments <= 0 {
		return nil, fmt.Errorf("%w: the current run uses lock %s, but does not record the number of stock segments", ErrBadData, run.Lock)
	}
	sale.Segments = NewSegmentLocks(row, parts, run.Segments)
	return &session{sale: sale}, nil
}

// closeSession closes the lock of a session that is over and has no sale in flight.
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
		s.Log.Warn("releasing the lock of a run that is over", "run", over.sale.Run.ID, "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = nil
	s.notify()
}
