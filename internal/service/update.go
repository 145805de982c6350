package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/internal/history"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// Retry is how a watched sale tries again: after a random pause, of up to Pause at first and up to twice as much each time, but
// never of more than 50 times Pause; and until Within has passed.
type Retry struct {
	Pause  time.Duration
	Within time.Duration
	Clock  lock.Clock
	Rand   func(n int64) int64 // from 0 to n-1
}

// Watches bounds how many sales watch at once, for each keeps one of the store's connections to itself. A nil one is no bound.
type Watches chan struct{}

var errNoRoom = errors.New("too many sales watch the stock")

// one calls watch when there is room, unless ctx ends before.
func (w Watches) one(ctx context.Context, watch func() error) error {
	if w != nil {
		select {
		case w <- struct{}{}:
			defer func() { <-w }()
		case <-ctx.Done():
			return errNoRoom
		}
	}
	return watch()
}

const longestPause = 50 // times the first

// take takes a piece in the sale's way, and gives the order with what it found.
func (s Sale) take(ctx context.Context, order history.Order) (history.Order, error) {
	switch s.Update {
	case strategy.CheckAndSet:
		return s.takeWatched(ctx, order)
	case strategy.Atomic:
		if err := s.think(ctx, order.Owner); err != nil {
			return order, err
		}
		order.At = s.Clock.Now()
		order, err := s.Stock.Take(ctx, order)
		return order, ofWrite(err)
	default:
		return s.takeFrom(ctx, s.Stock, order)
	}
}

// takeFrom reads the stock, thinks, and writes what is then left.
func (s Sale) takeFrom(ctx context.Context, stock Stock, order history.Order) (_ history.Order, err error) {
	if order.Before, err = stock.Read(ctx, order); err != nil {
		return order, err
	}
	if order.Before <= 0 {
		return order, ErrSoldOut
	}
	if err := s.think(ctx, order.Owner); err != nil {
		return order, err
	}
	order.After, order.At = order.Before-1, s.Clock.Now()
	return order, ofWrite(stock.Write(ctx, order))
}

// ofWrite is the error of a sale's write. Only here does a missing reply leave open whether the sale was made.
func ofWrite(err error) error {
	if errors.Is(err, lock.ErrOutcomeUnknown) {
		return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	return err
}

// takeWatched begins again as long as others come in between, and its time lasts.
func (s Sale) takeWatched(ctx context.Context, order history.Order) (history.Order, error) {
	wait, stop := lock.WithTimeout(ctx, s.Retry.Clock, s.Retry.Within, lock.ErrTimeout)
	defer stop()
	conflicts := 0
	for pause := s.Retry.Pause; ; pause = min(2*pause, longestPause*s.Retry.Pause) {
		sold := order
		err := s.Watches.one(wait, func() error {
			return s.Stock.Watch(ctx, func(stock Stock) (err error) {
				sold, err = s.takeFrom(ctx, stock, order)
				return err
			})
		})
		if errors.Is(err, errNoRoom) {
			return order, fmt.Errorf("%w: %w", err, lock.WaitError(wait, s.Retry.Within))
		}
		if !errors.Is(err, ErrConflict) {
			return sold, err
		}
		conflicts++
		s.Watch.Conflicted(order.Lock)
		if lock.Sleep(wait, s.Retry.Clock, time.Duration(s.Retry.Rand(int64(pause)))) != nil {
			return order, fmt.Errorf("%w, %d times: %w", ErrConflict, conflicts, lock.WaitError(wait, s.Retry.Within))
		}
	}
}

// think is what a sale does between reading and writing: it takes its time, and makes the nested calls.
func (s Sale) think(ctx context.Context, owner string) error {
	if err := lock.Sleep(ctx, s.Clock, s.Think); err != nil {
		return fmt.Errorf("%w: %w", lock.ErrCancelled, context.Cause(ctx))
	}
	return s.nested(ctx, owner, s.Nested)
}
