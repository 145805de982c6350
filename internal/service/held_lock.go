package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/internal/lock"
)

// held is the lock that a sale, or a nested call of it, holds.
type heldLock struct {
	*lock.Lease

	lockCtx context.Context //nolint:containedctx // that of the lease, if the lock cannot know that it is lost
	owner   string
	depth   int // of nested calls
	wait    time.Duration
	since   time.Time
}

// lock obtains the lock, for the sale or for a nested call.
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

// unlock releases the lock. A lock that was gone already does not undo the sale, but it is logged.
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

// seeLoss tells the observers if the sale's lease is lost, until the function that it returns is called.
func (s *Sale) observeLoss(ctx context.Context, h heldLock) (stop func()) {
	if len(s.Observers) == 0 || h.Context() == h.lockCtx { // nobody would hear of it, or the lock cannot know
		return func() {}
	}
	stopAfter := context.AfterFunc(h.Context(), func() {
		if cause := context.Cause(h.Context()); errors.Is(cause, lock.ErrLost) {
			s.notifyObservers(ctx, SaleEvent{Moment: Loses, Err: cause})
		}
	})
	return func() { stopAfter() }
}

// withLoss returns the error of a sale that ended with err: lock.ErrLost, if its lock was lost and nothing was written.
func (h heldLock) lossError(err error) error {
	switch {
	case err == nil, errors.Is(err, ErrOutcomeUnknown), !errors.Is(context.Cause(h.Context()), lock.ErrLost):
		return err
	case errors.Is(err, lock.ErrCancelled): // by the loss itself
		return fmt.Errorf("%w while the sale was going on; nothing was written", lock.ErrLost)
	default: // the sale's own error is text only: a sale that has lost its lock cannot say "sold out"
		return fmt.Errorf("%w while the sale was going on; nothing was written: %s", lock.ErrLost, err.Error())
	}
}
