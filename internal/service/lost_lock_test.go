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

// refusingStock is a memoryStock that refuses writes as if it had seen a larger fencing token.
type refusingStock struct {
	*memoryStock
	refuses bool
}

func (r *refusingStock) Write(ctx context.Context, order history.Order) (history.Order, error) {
	if r.refuses {
		return order, lock.ErrLost
	}
	return r.memoryStock.Write(ctx, order)
}

// If only the store knows that a lock is lost, the lock is not passed to the next sale of the process, as v11 would do.
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
	stock := &refusingStock{memoryStock: &memoryStock{stock: history.MaxStock}}
	sale := newSale(stock.memoryStock, strategy.ReadModifyWrite)
	sale.Stock = stock
	sale.Locker = row.New(strategy.Parts{
		Options: lock.Options{
			Key: lock.Key, TTL: time.Minute, RetryInterval: time.Millisecond, WaitTimeout: time.Minute, Clock: lock.SystemClock{},
			Process: "p", HandOffLimit: 64, Notifier: r.Notifier, Rand: rand.Int64N,
		},
		Client: r.Lock,
	})
	isKept := func() bool {
		t.Helper()
		n, err := r.Store.Exists(t.Context(), lock.Key).Result()
		if err != nil {
			t.Fatal(err)
		}
		return n == 1
	}
	for deadline := time.Now().Add(time.Minute); !isKept(); { // v11 keeps the lock only once its subscription is active
		if _, err := sale.Sell(t.Context(), "a", lock.Owner("a")); err != nil || time.Now().After(deadline) {
			t.Fatalf("the lock is not kept: %v", err)
		}
	}
	stock.refuses = true
	_, err = sale.Sell(t.Context(), "b", lock.Owner("b"))
	if still := isKept(); still || !errors.Is(err, lock.ErrLost) {
		t.Errorf("refused sale: %v, lock kept: %t; want ErrLost, and the lock released", err, still)
	}
}

// unansweredStock is a memoryStock whose writes are never answered.
type unansweredStock struct{ *memoryStock }

func (unansweredStock) Write(ctx context.Context, order history.Order) (history.Order, error) {
	<-ctx.Done()
	return order, lock.ErrOutcomeUnknown
}

// A sale that loses its lock before the write writes nothing. If the write is not answered, the outcome is unknown, whether or not the lock
// is lost.
func TestLostLockDeterminesErrorOfSale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stock := &memoryStock{stock: 2}
		sale := newSale(stock, strategy.ReadModifyWrite)
		sale.Locker, sale.Think = expiringLock{time.Second}, 2*time.Second
		_, err := sale.Sell(t.Context(), "a", lock.Owner("a"))
		if !errors.Is(err, lock.ErrLost) || !slices.Equal(stock.events, []string{"a reads"}) {
			t.Errorf("lost before the write: %v, events %q; want ErrLost, and only a read", err, stock.events)
		}
		sale.Stock, sale.Think = unansweredStock{stock}, 0
		if _, err := sale.Sell(t.Context(), "b", lock.Owner("b")); !errors.Is(err, service.ErrOutcomeUnknown) || errors.Is(err, lock.ErrLost) {
			t.Errorf("lost while the write was not answered: %v; want ErrOutcomeUnknown", err)
		}
	})
}
