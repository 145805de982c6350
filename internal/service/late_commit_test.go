package service_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/lock/contrast"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/internal/strategy"
)

// memoryStock is a stock in memory whose writes take slow to arrive. It also wraps a lock, and records what sales do with both.
type memoryStock struct {
	service.Stock
	lock.Locker
	slow  time.Duration // delay of a write
	fails error         // result of a write; nil: success

	mu     sync.Mutex
	stock  int64
	events []string
}

func (s *memoryStock) event(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, text)
}

func (s *memoryStock) Read(_ context.Context, order history.Order) (int64, error) {
	s.event(order.ID + " reads")
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stock, nil
}

func (s *memoryStock) Write(ctx context.Context, order history.Order) (history.Order, error) {
	if err := lock.Sleep(ctx, lock.SystemClock{}, s.slow); err != nil {
		return order, errors.Join(lock.ErrCancelled, err)
	}
	s.event(order.ID + " writes")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stock = order.After
	return order, s.fails
}

func (s *memoryStock) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	lease, err := s.Locker.Lock(ctx, owner)
	if err != nil {
		return nil, err
	}
	return lock.NewLease(ctx, lock.SystemClock{}, 0, func(ctx context.Context) error {
		s.event(strings.TrimPrefix(owner, lock.Key+":") + " unlocks")
		return lease.Unlock(ctx)
	}), nil
}

// newSale returns a sale from a stock, under a correct lock.
func newSale(stock *memoryStock, update strategy.Update) *service.Sale {
	stock.Locker = contrast.NewLocal(lock.Options{Clock: lock.SystemClock{}, WaitTimeout: time.Minute})
	return &service.Sale{
		Locker: stock, Stock: stock, Clock: lock.SystemClock{}, Log: slog.New(slog.DiscardHandler), Update: update,
	}
}

// An update is lost although nothing fails and the lock never has two holders.
func TestLateCommitLosesUpdate(t *testing.T) {
	for update, want := range map[strategy.Update]struct {
		left   int64
		events string
	}{
		strategy.LateCommit:      {1, "a reads, a unlocks, b reads, b unlocks, a writes, b writes"},
		strategy.ReadModifyWrite: {0, "a reads, a writes, a unlocks, b reads, b writes, b unlocks"},
	} {
		synctest.Test(t, func(t *testing.T) {
			stock := &memoryStock{stock: 2, slow: time.Second}
			sale, sold := newSale(stock, update), make(chan error, 2)
			for i, id := range []string{"a", "b"} { // b starts 1 ms after a
				time.AfterFunc(time.Duration(i)*time.Millisecond, func() {
					_, err := sale.Sell(t.Context(), id, lock.Owner(id))
					sold <- err
				})
			}
			if err := errors.Join(<-sold, <-sold); err != nil {
				t.Error(err)
			}
			if got := strings.Join(stock.events, ", "); stock.stock != want.left || got != want.events {
				t.Errorf("%d left of 2, by: %s; want %d by: %s", stock.stock, got, want.left, want.events)
			}
		})
	}
}

func TestLateCommitWithoutContentionSells(t *testing.T) {
	stock := &memoryStock{stock: 2}
	receipt, err := newSale(stock, strategy.LateCommit).Sell(t.Context(), "a", lock.Owner("a"))
	if err != nil || receipt.Before != 2 || receipt.After != 1 || receipt.At.IsZero() || stock.stock != 1 {
		t.Errorf("%+v, %v, %d left; want one of two sold", receipt, err, stock.stock)
	}
}

func TestLateCommitReturnsErrors(t *testing.T) {
	written := []string{"a reads", "a unlocks", "a writes"}
	for name, c := range map[string]struct {
		stock  *memoryStock
		want   error
		events []string
	}{
		"sold out":        {&memoryStock{stock: 0}, service.ErrSoldOut, []string{"a reads", "a unlocks"}},
		"outcome unknown": {&memoryStock{stock: 1, fails: lock.ErrOutcomeUnknown}, service.ErrOutcomeUnknown, written},
		"run over":        {&memoryStock{stock: 1, fails: service.ErrRunOver}, service.ErrRunOver, written},
	} {
		receipt, err := newSale(c.stock, strategy.LateCommit).Sell(t.Context(), "a", lock.Owner("a"))
		if !errors.Is(err, c.want) || receipt != (service.Receipt{}) || !slices.Equal(c.stock.events, c.events) {
			t.Errorf("%s: %v, %+v, by %q; want %v by %q", name, err, receipt, c.stock.events, c.want, c.events)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		stock := &memoryStock{stock: 1, slow: time.Second}
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, leave)
		if _, err := newSale(stock, strategy.LateCommit).Sell(ctx, "a", lock.Owner("a")); !errors.Is(err, lock.ErrCancelled) || stock.stock != 1 {
			t.Errorf("buyer left before the write: %v, %d left; want ErrCancelled and one left", err, stock.stock)
		} else if strings.Contains(err.Error(), "wait") {
			t.Errorf("a sale that had the lock fails with %q; want no mention of waiting", err)
		}
	})
}
