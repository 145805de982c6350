package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/service/history"
)

// Backoff says when an optimistic sale attempts its check-and-set again after a conflict: exponential backoff with full jitter (Brooker,
// "Exponential Backoff And Jitter", AWS 2015). Pauses are random, from 0 to a bound that doubles from Delay up to 50 times Delay.
type Backoff struct {
	Delay       time.Duration // bound of the first pause
	MaxDuration time.Duration // of all attempts and pauses of one sale; no attempt begins later
	Clock       lock.Clock
	Rand        func(n int64) int64 // from 0 to n-1
}

const (
	backoffFactor  = 2
	maxDelayFactor = 50
)

// next returns the bound of the pause after one with this bound.
func (b Backoff) next(delay time.Duration) time.Duration {
	return min(backoffFactor*delay, maxDelayFactor*b.Delay)
}

// pause waits for a random time below delay. It fails when ctx ends.
func (b Backoff) pause(ctx context.Context, delay time.Duration) error {
	return lock.Sleep(ctx, b.Clock, time.Duration(b.Rand(int64(delay))))
}

// Slots bound how many attempts are between WATCH and EXEC at once, for each keeps one of the store's connections to itself. Nil Slots
// are no bound.
type Slots chan struct{}

var errNoSlot = errors.New("too many sales are between WATCH and EXEC")

// use calls attempt when there is a free slot. It fails with errNoSlot when ctx ends before.
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

// checkAndSet attempts to read, think and write until no other sale has written in between.
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
