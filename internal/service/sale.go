package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/service/history"
)

// Sale is how one piece is sold under a lock: the write-up's handler, without its HTTP.
type Sale struct {
	Locker   lock.Locker
	Stock    Stock
	Clock    lock.Clock
	Log      *slog.Logger
	Observer Observer
	Witness  Witness // nil: nobody
	Replica  string
	Think    time.Duration // between reading the stock and writing it
	Nested   int           // how many nested calls take the lock again
	Update   strategy.Update
	Backoff  Backoff // between the attempts of a check-and-set
	Slots    Slots   // for its attempts
}

// Receipt is what a buyer gets.
type Receipt struct {
	history.Order
	Wait time.Duration // for the lock
	Hold time.Duration // from obtaining the lock to the end of the work under it
}

// Sell sells one piece, as order id of run. It fails with ErrOutcomeUnknown when the sale may have been made. After any other error it was
// not: ErrSoldOut, ErrBadStock, ErrRunOver, or any of the lock's; lock.ErrLost when the lock was lost while the sale was going on.
func (s Sale) Sell(ctx context.Context, run history.Run, id string) (_ Receipt, err error) {
	order := history.Order{ID: id, RunID: run.ID, Lock: run.Lock, Replica: s.Replica, Owner: lock.Owner(id)}
	ctx = s.witness().Follow(ctx, run.ID, order.Owner)
	defer func() { s.witness().Saw(ctx, Ends, 0, err) }()
	receipt, err := s.sellUnderLock(ctx, order)
	if err == nil && s.Update == strategy.LateCommit {
		receipt.Order, err = s.write(ctx, s.Stock, receipt.Order) // the antipattern: the lock may be another sale's by now
	}
	if err != nil {
		return Receipt{}, err
	}
	return receipt, nil
}

// sellUnderLock does what a sale does from the lock to the unlock.
func (s Sale) sellUnderLock(ctx context.Context, order history.Order) (receipt Receipt, err error) {
	asked := s.Clock.Now()
	s.Observer.Waits(order.Lock, +1)
	lease, err := s.lock(ctx, order.Owner)
	s.Observer.Waits(order.Lock, -1)
	if err != nil {
		return Receipt{}, err
	}
	obtained := s.Clock.Now()
	s.Observer.Waited(order.Lock, obtained.Sub(asked))
	defer func() { s.Observer.Held(order.Lock, s.Clock.Now().Sub(obtained)) }()
	log := s.Log.With("owner", order.Owner)
	log.Debug("lock")
	defer func() { s.unlock(ctx, lease, log) }()
	defer s.seeLoss(ctx, lease)()
	defer func() {
		if err = withLoss(lease, err); errors.Is(err, lock.ErrLost) {
			lease.Lose() // perhaps only the store knows so far
		}
	}()

	order.Fence = lease.Token()
	if order, err = s.update(lease.Context(), order); err != nil {
		return Receipt{}, err
	}
	return Receipt{Order: order, Wait: obtained.Sub(asked), Hold: s.Clock.Now().Sub(obtained)}, nil
}

// withLoss gives the error of a sale whose lock was lost: lock.ErrLost, if nothing was written.
func withLoss(lease *lock.Lease, err error) error {
	switch {
	case err == nil, errors.Is(err, ErrOutcomeUnknown), !errors.Is(context.Cause(lease.Context()), lock.ErrLost):
		return err
	case errors.Is(err, lock.ErrCancelled): // by the loss itself
		return fmt.Errorf("%w while the sale was going on; nothing was written", lock.ErrLost)
	default: // the sale's own error is text only: a sale that has lost its lock cannot say "sold out"
		return fmt.Errorf("%w while the sale was going on; nothing was written: %s", lock.ErrLost, err.Error())
	}
}

// nested is the write-up's subFunc and subFunc1: a call that takes the lock its caller has, and calls the next.
func (s Sale) nested(ctx context.Context, owner string, depth int) error {
	if depth == 0 {
		return nil
	}
	lease, err := s.lock(ctx, owner)
	if err != nil {
		return fmt.Errorf("nested call: %w", err)
	}
	log := s.Log.With("owner", owner, "nested", s.Nested-depth+1)
	log.Debug("lock")
	defer func() { s.unlock(ctx, lease, log) }()
	return s.nested(lease.Context(), owner, depth-1)
}

// lock obtains the lock, for the sale or for a nested call.
func (s Sale) lock(ctx context.Context, owner string) (*lock.Lease, error) {
	s.witness().Saw(ctx, Asks, 0, nil)
	lease, err := s.Locker.Lock(ctx, owner)
	if err == nil {
		s.witness().Saw(ctx, Obtains, lease.Token(), nil)
	}
	return lease, err
}

// seeLoss tells the witness when the sale is told that its lock is lost, until the function that it returns is called.
func (s Sale) seeLoss(ctx context.Context, lease *lock.Lease) (over func()) {
	if s.Witness == nil {
		return func() {}
	}
	stop := context.AfterFunc(lease.Context(), func() {
		if cause := context.Cause(lease.Context()); errors.Is(cause, lock.ErrLost) {
			s.Witness.Saw(ctx, Loses, 0, cause)
		}
	})
	return func() { stop() }
}

// unlock releases the lock. A lock that was gone already does not undo the sale, but it is logged.
func (s Sale) unlock(ctx context.Context, lease *lock.Lease, log *slog.Logger) {
	s.witness().Saw(ctx, Leaves, 0, nil)
	err := lease.Unlock(ctx)
	s.witness().Saw(ctx, Released, 0, err)
	if err != nil {
		log.Warn("unlock", "error", err)
		return
	}
	log.Debug("unlock")
}
