package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/service/history"
	"lockstep/internal/strategy"
)

// Sale sells one piece at a time under the lock of a run: the write-up's handler, without its HTTP. All sales of a run share it.
type Sale struct {
	Run       history.Run
	Locker    lock.Locker
	Segments  []lock.Locker // one for each segment of the stock, in place of Locker; none: the stock is in none
	Stock     Stock
	Clock     lock.Clock
	Log       *slog.Logger
	Observers Observers
	Replica   string
	Think     time.Duration // between reading the stock and writing it
	Nested    int           // how many nested calls take the lock again
	Update    strategy.Update
	Backoff   Backoff // between the attempts of a check-and-set
	Slots     Slots   // for its attempts

	// Overlap is how many sales of the run were in flight at once, at least; nil: nobody counts.
	Overlap *atomic.Int64

	segment int // that its lock is of, from 1 on; 0: of the whole stock
}

// Receipt is what a buyer gets.
type Receipt struct {
	history.Order

	Wait time.Duration // for the lock
	Hold time.Duration // from obtaining the lock to the end of the work under it

	Replayed bool // another request has made the order; Wait and Hold are not kept, and 0 then
}

// Sell sells one piece, as order id, by an owner of the lock. Requests for one order need an owner each: a reentrant lock lets its holder
// in again. It fails with ErrOutcomeUnknown when the sale may have been made. After any other error it was not: ErrSoldOut, ErrBadStock,
// ErrRunOver, or any of the lock's; lock.ErrLost when the lock was lost while the sale was going on.
func (s *Sale) Sell(ctx context.Context, id, owner string) (_ Receipt, err error) {
	order := history.Order{ID: id, RunID: s.Run.ID, Lock: s.Run.Lock, Replica: s.Replica, Owner: owner}
	ctx = s.Observers.Follow(ctx, s.Run.ID, order.Owner)
	defer func() { s.notifyObservers(ctx, SaleEvent{Moment: Ends, Err: err}) }()
	sell := s.sellUnderLock
	if len(s.Segments) > 0 {
		sell = s.sellFromSegments
	}
	receipt, err := sell(ctx, order)
	if err == nil && s.Update == strategy.LateCommit {
		receipt.Order, err = s.write(ctx, s.Stock, receipt.Order) // the antipattern: the lock may be another sale's by now
	}
	if err != nil {
		return Receipt{}, err
	}
	return receipt, nil
}

// sellUnderLock does what a sale does from the lock to the unlock.
func (s *Sale) sellUnderLock(ctx context.Context, order history.Order) (Receipt, error) {
	held, err := s.lock(ctx, order.Owner, 0)
	if err != nil {
		return Receipt{}, err
	}
	defer s.unlock(ctx, held)
	stopObserving := s.observeLoss(ctx, held)
	defer stopObserving()

	order.Fence = held.Token()
	order, err = s.update(held.Context(), order)
	if err = held.lossError(err); err != nil {
		if errors.Is(err, lock.ErrLost) {
			held.Lose() // perhaps only the store knows so far
		}
		return Receipt{}, err
	}
	return Receipt{Order: order, Wait: held.wait, Hold: s.Clock.Now().Sub(held.since)}, nil
}

// nested takes the lock that its caller has, and calls the next, as the write-up's subFunc and subFunc1 do.
func (s *Sale) nested(ctx context.Context, owner string, depth int) error {
	if depth > s.Nested {
		return nil
	}
	held, err := s.lock(ctx, owner, depth)
	if err != nil {
		return fmt.Errorf("nested call: %w", err)
	}
	defer s.unlock(ctx, held)
	return s.nested(held.Context(), owner, depth+1)
}

// notifyObservers tells the observers.
func (s *Sale) notifyObservers(ctx context.Context, seen SaleEvent) {
	seen.Lock, seen.Segment = s.Run.Lock, s.segment
	s.Observers.Observe(ctx, seen)
}

// recordOverlap records that so many sales are in flight: in this replica, or two, as one met another's lock or write.
func (s *Sale) recordOverlap(inFlight int64) {
	if s.Overlap == nil {
		return
	}
	most := s.Overlap.Load()
	for inFlight > most && !s.Overlap.CompareAndSwap(most, inFlight) {
		most = s.Overlap.Load()
	}
}

// overlap returns how many sales of the run were in flight at once, at least; 0 if that is not known.
func (s *Sale) overlap() int64 {
	if s.Overlap == nil {
		return 0
	}
	return s.Overlap.Load()
}
