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

// Sale makes the sales of a run in one replica, each of one piece under the run's lock. It is the original write-up's handler without HTTP.
type Sale struct {
	Run       history.Run
	Locker    lock.Locker
	Segments  []lock.Locker // one lock per stock segment, in place of Locker; empty: the stock is not segmented
	Stock     Stock
	Clock     lock.Clock
	Log       *slog.Logger
	Observers Observers
	Replica   string          // name of this replica
	Think     time.Duration   // pause between reading and writing the stock
	Nested    int             // number of nested calls that take the lock again
	Update    strategy.Update // how the sales update the stock
	Backoff   Backoff         // pauses between check-and-set attempts
	Slots     Slots           // bound on concurrent check-and-set attempts

	// Overlap is the largest known number of sales of the run in flight at once; nil: not counted.
	Overlap *atomic.Int64

	segment int // 1-based stock segment the lock guards; 0: the whole stock
}

// Receipt is the result of a successful sale.
type Receipt struct {
	history.Order

	Wait time.Duration // time waited for the lock
	Hold time.Duration // time from obtaining the lock to the end of the critical section

	Replayed bool // true: an earlier request made the order; Wait and Hold are 0 then
}

// Sell sells one piece as order id, with owner as the owner of the lock. Several requests for one order need different owners, because a
// reentrant lock admits its holder again. Sell fails with ErrOutcomeUnknown if the sale may have been made. After any other error it was
// not made: ErrSoldOut, ErrBadStock, ErrRunOver, an error of the lock, or lock.ErrLost if the lock was lost during the sale.
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
		receipt.Order, err = s.write(ctx, s.Stock, receipt.Order) // The antipattern: another sale may hold the lock by now.
	}
	if err != nil {
		return Receipt{}, err
	}
	return receipt, nil
}

// sellUnderLock takes the lock, updates the stock in the critical section, and releases the lock.
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
			held.Lose() // The store may have detected the loss before the lock did.
		}
		return Receipt{}, err
	}
	return Receipt{Order: order, Wait: held.wait, Hold: s.Clock.Now().Sub(held.since)}, nil
}

// makeNestedCalls takes the lock that its caller holds, and then makes the next nested call, as subFunc and subFunc1 of the original
// write-up do.
func (s *Sale) makeNestedCalls(ctx context.Context, owner string, depth int) error {
	if depth > s.Nested {
		return nil
	}
	held, err := s.lock(ctx, owner, depth)
	if err != nil {
		return fmt.Errorf("nested call: %w", err)
	}
	defer s.unlock(ctx, held)
	return s.makeNestedCalls(held.Context(), owner, depth+1)
}

// notifyObservers passes an event of this sale to the observers.
func (s *Sale) notifyObservers(ctx context.Context, event SaleEvent) {
	event.Lock, event.Segment = s.Run.Lock, s.segment
	s.Observers.Observe(ctx, event)
}

// recordOverlap raises Overlap to inFlight: the number of sales in flight in this replica, or two if a sale met another's lock or write.
func (s *Sale) recordOverlap(inFlight int64) {
	if s.Overlap == nil {
		return
	}
	most := s.Overlap.Load()
	for inFlight > most && !s.Overlap.CompareAndSwap(most, inFlight) {
		most = s.Overlap.Load()
	}
}

// overlap returns the value of Overlap; 0 if it is not counted.
func (s *Sale) overlap() int64 {
	if s.Overlap == nil {
		return 0
	}
	return s.Overlap.Load()
}
