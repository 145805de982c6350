package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/internal/lock"
)

// heldLock is a lock held by a sale or by a nested call of it.
type heldLock struct {
	*lock.Lease

	lockCtx context.Context //nolint:containedctx // context passed to Lock; equals the lease's if the lock cannot detect its loss
	owner   string
	depth   int           // nesting depth of the call; 0: the sale itself
	wait    time.Duration // time spent waiting for the lock
	since   time.Time     // when the lock was obtained
}

// lock obtains the lock for the sale, at depth 0, or for a nested call.
func (s *Sale) lock(ctx context.Context, owner string, depth int) (heldLock, error) {
	start := s.Clock.Now()
	s.notifyObservers(ctx, SaleEvent{Moment: Asks, Nested: depth})
	lease, err := s.Locker.Lock(ctx, owner)
	if err != nil {
		s.notifyObservers(ctx, SaleEvent{Moment: Misses, Nested: depth, Err: err})
		return heldLock{}, err
	}
	now := s.Clock.Now()
	s.notifyObservers(ctx, SaleEvent{Moment: Obtains, Nested: depth, Token: lease.Token(), Took: now.Sub(start)})
	s.Log.Debug("lock", "owner", owner, "nested", depth)
	return heldLock{Lease: lease, lockCtx: ctx, owner: owner, depth: depth, wait: now.Sub(start), since: now}, nil
}

// unlock releases the lock. It logs an error, such as a lock that was lost, because the sale has been made anyway.
func (s *Sale) unlock(ctx context.Context, h heldLock) {
	s.notifyObservers(ctx, SaleEvent{Moment: Leaves, Nested: h.depth})
	err := h.Unlock(ctx)
	s.notifyObservers(ctx, SaleEvent{Moment: Released, Nested: h.depth, Took: s.Clock.Now().Sub(h.since), Err: err})
	if err != nil {
		s.Log.Warn("unlock", "owner", h.owner, "nested", h.depth, "error", err)
		return
	}
	s.Log.Debug("unlock", "owner", h.owner, "nested", h.depth)
}

// observeLoss notifies the observers if the lease is lost before stop is called.
func (s *Sale) observeLoss(ctx context.Context, h heldLock) (stop func()) {
	if len(s.Observers) == 0 || h.Context() == h.lockCtx { // There are no observers, or the lock cannot detect its loss.
		return func() {}
	}
	stopAfter := context.AfterFunc(h.Context(), func() {
		if cause := context.Cause(h.Context()); errors.Is(cause, lock.ErrLost) {
			s.notifyObservers(ctx, SaleEvent{Moment: Loses, Err: cause})
		}
	})
	return func() { stopAfter() }
}

// lossError returns the error of a sale that ended with err: lock.ErrLost if its lock was lost and nothing was written, otherwise err.
func (h heldLock) lossError(err error) error {
	switch {
	case err == nil, errors.Is(err, ErrOutcomeUnknown), !errors.Is(context.Cause(h.Context()), lock.ErrLost):
		return err
	case errors.Is(err, lock.ErrCancelled): // The loss cancelled the context of the sale.
		return fmt.Errorf("%w during the sale; nothing was written", lock.ErrLost)
	default: // err becomes plain text: a sale that has lost its lock cannot claim that the stock is sold out.
		return fmt.Errorf("%w during the sale; nothing was written: %s", lock.ErrLost, err.Error())
	}
}
