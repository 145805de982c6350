package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/service/history"
)

// Backoff determines the pauses between the check-and-set attempts of an optimistic sale: exponential backoff with full jitter (Brooker,
// "Exponential Backoff And Jitter", AWS 2015). Each pause is random, from 0 to a bound that doubles from Delay up to 50 times Delay.
type Backoff struct {
	Delay       time.Duration // upper bound of the first pause
	MaxDuration time.Duration // total time of one sale, after which no attempt begins
	Clock       lock.Clock
	Rand        func(n int64) int64 // random number from 0 to n-1
}

const (
	backoffFactor  = 2  // ratio of the bounds of two consecutive pauses
	maxDelayFactor = 50 // largest bound of a pause, in multiples of Backoff.Delay
)

// next returns the bound of the pause that follows a pause with the bound delay.
func (b Backoff) next(delay time.Duration) time.Duration {
	return min(backoffFactor*delay, maxDelayFactor*b.Delay)
}

// pause waits for a random time below delay. It fails if ctx ends first.
func (b Backoff) pause(ctx context.Context, delay time.Duration) error {
	return lock.Sleep(ctx, b.Clock, time.Duration(b.Rand(int64(delay))))
}

// Slots is a semaphore that bounds the number of attempts between WATCH and EXEC, because each of them occupies one of the store's
// connections. Nil Slots are unlimited.
type Slots chan struct{}

// errNoSlot is returned by Slots.use when no slot became free in time.
var errNoSlot = errors.New("too many sales are between WATCH and EXEC")

// use calls attempt in a free slot. It fails with errNoSlot if ctx ends before a slot is free.
func (s Slots) use(ctx context.Context, attempt func() error) error {
	if s != nil {
		select {
		case s <- struct{}{}:
			defer func() { <-s }()
		case <-ctx.Done():
			return errNoSlot
		}
	}
	return attempt()
}

// checkAndSet reads, thinks and writes, and repeats this until no other sale has written in between.
func (s *Sale) checkAndSet(ctx context.Context, order history.Order) (history.Order, error) {
	wait, stop := lock.WithTimeout(ctx, s.Backoff.Clock, s.Backoff.MaxDuration, lock.ErrTimeout)
	defer stop()
	conflicts := 0
	for delay := s.Backoff.Delay; ; delay = s.Backoff.next(delay) {
		sold := order
		err := s.Slots.use(wait, func() error {
			return s.Stock.Watch(ctx, func(stock Stock) (err error) {
				sold, err = s.readModifyWrite(ctx, stock, order)
				return err
			})
		})
		if errors.Is(err, errNoSlot) {
			return order, fmt.Errorf("%w: %w", err, lock.WaitError(wait, s.Backoff.MaxDuration))
		}
		if !errors.Is(err, ErrConflict) {
			return sold, err
		}
		conflicts++
		s.recordOverlap(2)
		s.notifyObservers(ctx, SaleEvent{Moment: Conflicts})
		if s.Backoff.pause(wait, delay) != nil {
			return order, fmt.Errorf("%w, %d times: %w", ErrConflict, conflicts, lock.WaitError(wait, s.Backoff.MaxDuration))
		}
	}
}
