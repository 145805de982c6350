package service_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/dao"
	"lockstep/internal/evolution"
	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/internal/strategy"
)

// refusing is a shelf that has seen a larger fencing token while it refuses.
type refusing struct {
	*shelf
	refuses bool
}

func (r *refusing) Write(ctx context.Context, order history.Order) (history.Order, error) {
	if r.refuses {
		return order, lock.ErrLost
	}
	return r.shelf.Write(ctx, order)
}

// A lock that is known to be lost by the store alone is not passed to the next sale of the process: v11 would keep it for that.
func TestLockIsReleasedAfterStoreRefusesToken(t *testing.T) {
	r, err := dao.Open(t.Context(), dao.Config{EmbeddedAddr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	row, err := evolution.Find("v11")
	if err != nil {
		t.Fatal(err)
	}
	stock := &refusing{shelf: &shelf{stock: history.MaxStock}}
	sale := saleOf(stock.shelf, strategy.ReadModifyWrite)
	sale.Stock = stock
	sale.Locker = row.New(strategy.Parts{
		Options: lock.Options{
			Key: lock.Key, TTL: time.Minute, RetryInterval: time.Millisecond, WaitTimeout: time.Minute, Clock: lock.SystemClock{},
			Process: "p", HandOffLimit: 64, Notifier: r.Notifier, Rand: rand.Int64N,
		},
		Client: r.Lock,
	})
	kept := func() bool {
		t.Helper()
		n, err := r.Store.Exists(t.Context(), lock.Key).Result()
		if err != nil {
			t.Fatal(err)
		}
		return n == 1
	}
	for deadline := time.Now().Add(time.Minute); !kept(); { // not before the process hears who asks for the lock
		if _, err := sale.Sell(t.Context(), "a", lock.Owner("a")); err != nil || time.Now().After(deadline) {
			t.Fatalf("the lock is not kept: %v", err)
		}
	}
	stock.refuses = true
	_, err = sale.Sell(t.Context(), "b", lock.Owner("b"))
	if still := kept(); still || !errors.Is(err, lock.ErrLost) {
		t.Errorf("a sale that the store refused: %v, and the lock is kept: %t; want it given back", err, still)
	}
}

// unanswered is a shelf whose writes are never answered.
type unanswered struct{ *shelf }

func (unanswered) Write(ctx context.Context, order history.Order) (history.Order, error) {
	<-ctx.Done()
	return order, lock.ErrOutcomeUnknown
}

// A sale that lost its lock before it wrote writes nothing. A write that was not answered is unknown, whatever became of the lock.
func TestLostLockDeterminesErrorOfSale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shelf := &shelf{stock: 2}
		sale := saleOf(shelf, strategy.ReadModifyWrite)
		sale.Locker, sale.Think = losing{time.Second}, 2*time.Second
		_, err := sale.Sell(t.Context(), "a", lock.Owner("a"))
		if !errors.Is(err, lock.ErrLost) || !slices.Equal(shelf.events, []string{"a reads"}) {
			t.Errorf("lost before the write: %v, and it %v", err, shelf.events)
		}
		sale.Stock, sale.Think = unanswered{shelf}, 0
		if _, err := sale.Sell(t.Context(), "b", lock.Owner("b")); !errors.Is(err, service.ErrOutcomeUnknown) || errors.Is(err, lock.ErrLost) {
			t.Errorf("lost while the write was not answered: %v; want ErrOutcomeUnknown", err)
		}
	})
}
