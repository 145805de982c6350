package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"lockstep/internal/history"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// Sale is how one piece is sold under a lock: the write-up's handler, without its HTTP.
type Sale struct {
	Locker  lock.Locker
	Stock   Stock
	Clock   lock.Clock
	Log     *slog.Logger
	Watch   Observer
	Replica string
	Think   time.Duration // between reading the stock and writing it
	Nested  int           // how many nested calls take the lock again
	Update  strategy.Update
	Retry   Retry   // for the way that may fail for another's sake
	Watches Watches // for the same
}

// Receipt is what a buyer gets.
type Receipt struct {
	history.Order
	Wait time.Duration // for the lock
	Hold time.Duration // from obtaining it to having written
}

// Sell sells one piece, as order id of run. It fails with ErrOutcomeUnknown when the sale may have been made. After any other error it was
// not: ErrSoldOut, ErrBadStock, ErrRunOver, or any of the lock's; lock.ErrLost when the lock was lost while the sale was going on.
func (s Sale) Sell(ctx context.Context, run history.Run, id string) (receipt Receipt, err error) {
	owner := lock.Owner(id)
	asked := s.Clock.Now()
	s.Watch.Waits(run.Lock, +1)
	lease, err := s.Locker.Lock(ctx, owner)
	s.Watch.Waits(run.Lock, -1)
	if err != nil {
		return Receipt{}, err
	}
	obtained := s.Clock.Now()
	s.Watch.Waited(run.Lock, obtained.Sub(asked))
	defer func() { s.Watch.Held(run.Lock, s.Clock.Now().Sub(obtained)) }()
	log := s.Log.With("owner", owner)
	log.Debug("lock")
	defer func() { unlock(ctx, lease, log) }()
	defer func() { err = ofLease(lease, err) }()

	order, err := s.take(lease.Context(), history.Order{
		ID: id, RunID: run.ID, Lock: run.Lock, Replica: s.Replica, Owner: owner, Fence: lease.Token(),
	})
	if err != nil {
		return Receipt{}, err
	}
	return Receipt{Order: order, Wait: obtained.Sub(asked), Hold: s.Clock.Now().Sub(obtained)}, nil
}

// ofLease says that a sale ended because its lock was lost, if nothing was written.
func ofLease(lease *lock.Lease, err error) error {
	switch {
	case err == nil, errors.Is(err, ErrOutcomeUnknown), !errors.Is(context.Cause(lease.Context()), lock.ErrLost):
		return err
	case errors.Is(err, lock.ErrCancelled): // by the loss itself
		return fmt.Errorf("%w while the sale was going on; nothing was written", lock.ErrLost)
	default: // its own error is only told: sold out, say, is no answer of a sale without its lock
		return fmt.Errorf("%w while the sale was going on; nothing was written: %s", lock.ErrLost, err.Error())
	}
}

// nested is the write-up's subFunc and subFunc1: a call that takes the lock its caller has, and calls the next.
func (s Sale) nested(ctx context.Context, owner string, depth int) error {
	if depth == 0 {
		return nil
	}
	lease, err := s.Locker.Lock(ctx, owner)
	if err != nil {
		return fmt.Errorf("nested call: %w", err)
	}
	log := s.Log.With("owner", owner, "nested", s.Nested-depth+1)
	log.Debug("lock")
	defer func() { unlock(ctx, lease, log) }()
	return s.nested(lease.Context(), owner, depth-1)
}

// unlock gives the lock back. That it was gone by then does not undo the sale, but is worth a line.
func unlock(ctx context.Context, lease *lock.Lease, log *slog.Logger) {
	if err := lease.Unlock(ctx); err != nil {
		log.Warn("unlock", "error", err)
		return
	}
	log.Debug("unlock")
}
