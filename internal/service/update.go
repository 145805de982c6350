package service

import (
	"context"
	"errors"
	"fmt"

	"lockstep/internal/lock"
	"lockstep/internal/service/history"
	"lockstep/internal/strategy"
)

// update updates the stock by the method of the sale's strategy, and returns the order with the stock before and after. A late commit only
// prepares the write.
func (s *Sale) update(ctx context.Context, order history.Order) (history.Order, error) {
	switch s.Update {
	case strategy.CheckAndSet:
		return s.checkAndSet(ctx, order)
	case strategy.Atomic:
		return s.take(ctx, order, s.Stock.Take)
	case strategy.Unchecked:
		return s.take(ctx, order, s.Stock.TakeUnchecked)
	case strategy.LateCommit:
		return s.prepare(ctx, s.Stock, order)
	default:
		return s.readModifyWrite(ctx, s.Stock, order)
	}
}

// readModifyWrite reads the stock, thinks, and writes the stock.
func (s *Sale) readModifyWrite(ctx context.Context, stock Stock, order history.Order) (history.Order, error) {
	order, err := s.prepare(ctx, stock, order)
	if err != nil {
		return order, err
	}
	return s.write(ctx, stock, order)
}

// prepare reads the stock, thinks, and computes the new stock. It fails with ErrSoldOut if none is left.
func (s *Sale) prepare(ctx context.Context, stock Stock, order history.Order) (_ history.Order, err error) {
	if order.Before, err = stock.Read(ctx, order); err != nil {
		return order, err
	}
	if order.Before <= 0 {
		return order, ErrSoldOut
	}
	order.After = order.Before - 1
	return order, s.think(ctx, order.Owner)
}

// write writes the prepared stock and order.
func (s *Sale) write(ctx context.Context, stock Stock, order history.Order) (history.Order, error) {
	order.At, order.Overlap = s.Clock.Now(), s.overlap()
	order, err := stock.Write(ctx, order)
	return order, classifyWriteError(err)
}

// stockUpdate sells a piece for an order: Stock.Take or Stock.TakeUnchecked.
type stockUpdate func(context.Context, history.Order) (history.Order, error)

// take thinks and then decrements the stock atomically by sell: one script both reads and writes, with no time to think in between.
func (s *Sale) take(ctx context.Context, order history.Order, sell stockUpdate) (history.Order, error) {
	if err := s.think(ctx, order.Owner); err != nil {
		return order, err
	}
	order.At, order.Overlap = s.Clock.Now(), s.overlap()
	order, err := sell(ctx, order)
	return order, classifyWriteError(err)
}

// classifyWriteError adds ErrOutcomeUnknown to the error of a write without a reply: only then may the sale have been made.
func classifyWriteError(err error) error {
	if errors.Is(err, lock.ErrOutcomeUnknown) {
		return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	return err
}

// think stands for the work between reading and writing: it sleeps for the think time and makes the nested calls.
func (s *Sale) think(ctx context.Context, owner string) error {
	if err := lock.Sleep(ctx, s.Clock, s.Think); err != nil {
		return fmt.Errorf("%w: %w", lock.ErrCancelled, context.Cause(ctx))
	}
	return s.makeNestedCalls(ctx, owner, 1)
}
