package service_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/lock/contrast"
	"lockstep/internal/service"
	"lockstep/internal/strategy"
)

// contestedStock is a stock to which another sale always writes first.
type contestedStock struct {
	service.Stock
	attempts int
}

func (c *contestedStock) Watch(context.Context, func(service.Stock) error) error {
	c.attempts++
	return service.ErrConflict
}

// conflictCounter is an observer that counts conflicts.
type conflictCounter int

func (*conflictCounter) Follow(ctx context.Context, _, _ string) context.Context { return ctx }
func (c *conflictCounter) Observe(_ context.Context, seen service.SaleEvent) {
	if seen.Moment == service.Conflicts {
		*c++
	}
}

func TestBackoffIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stock, seen := &contestedStock{}, new(conflictCounter)
		var pauses []int64
		sale := &service.Sale{
			Locker: contrast.NewNone(lock.Options{Clock: lock.SystemClock{}}), Stock: stock, Clock: lock.SystemClock{},
			Log: slog.New(slog.DiscardHandler), Observers: service.Observers{seen}, Update: strategy.CheckAndSet,
			Backoff: service.Backoff{
				Delay: 20 * time.Millisecond, MaxDuration: 30 * time.Second, Clock: lock.SystemClock{},
				Rand: func(n int64) int64 { pauses = append(pauses, n); return n - 1 },
			},
		}
		began := time.Now()
		_, err := sale.Sell(t.Context(), "one", lock.Owner("one"))
		if !errors.Is(err, service.ErrConflict) || !errors.Is(err, lock.ErrTimeout) || time.Since(began) != 30*time.Second {
			t.Errorf("%v after %v; want a timeout after 30s", err, time.Since(began))
		}
		if stock.attempts < 30 || stock.attempts > 40 || int(*seen) != stock.attempts {
			t.Errorf("%d attempts, %d conflicts counted; want pauses that double up to a second", stock.attempts, int(*seen))
		}
		if first, last := time.Duration(pauses[0]), time.Duration(pauses[len(pauses)-1]); first != 20*time.Millisecond || last != time.Second {
			t.Errorf("the pauses grow from %v to %v; want 20ms to 1s", first, last)
		}

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := sale.Sell(ctx, "two", lock.Owner("two")); !errors.Is(err, lock.ErrCancelled) {
			t.Errorf("buyer left: %v; want ErrCancelled", err)
		}
	})
}

// slowStock is a stock whose Watch takes a second. It counts how many sales watch it at once.
type slowStock struct {
	service.Stock
	mu             sync.Mutex
	watching, most int
}

func (s *slowStock) Watch(ctx context.Context, _ func(service.Stock) error) error {
	s.addWatching(+1)
	defer s.addWatching(-1)
	return errors.Join(lock.Sleep(ctx, lock.SystemClock{}, time.Second), service.ErrSoldOut)
}

func (s *slowStock) addWatching(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watching += n
	s.most = max(s.most, s.watching)
}

func TestSlotsBoundConcurrentWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stock := &slowStock{}
		sale := &service.Sale{
			Locker: contrast.NewNone(lock.Options{Clock: lock.SystemClock{}}), Stock: stock, Clock: lock.SystemClock{},
			Log: slog.New(slog.DiscardHandler), Update: strategy.CheckAndSet, Slots: make(service.Slots, 3),
			Backoff: service.Backoff{MaxDuration: 2500 * time.Millisecond, Clock: lock.SystemClock{}},
		}
		var soldOut, late atomic.Int32
		var buyers sync.WaitGroup
		for range 20 {
			buyers.Go(func() {
				switch _, err := sale.Sell(t.Context(), "one", lock.Owner("one")); {
				case errors.Is(err, service.ErrSoldOut):
					soldOut.Add(1)
				case errors.Is(err, lock.ErrTimeout):
					late.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		buyers.Wait()
		if stock.most != 3 || soldOut.Load() != 9 || late.Load() != 11 {
			t.Errorf("%d at once, %d in time, %d late; want 3, three times 3, and the rest", stock.most, soldOut.Load(), late.Load())
		}
	})
}
