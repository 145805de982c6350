package contestants

import (
	"context"
	"crypto/rand"
	"log/slog"
	mathrand "math/rand/v2"

	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/internal/strategy"
)

// unlockedSeller sells without a lock, by the sale of package service with its backoff.
type unlockedSeller struct {
	sale service.Sale
	*stock
}

func openUnlocked(row strategy.Strategy, env Env) Seller {
	stock, clock := openStock(env), lock.SystemClock{}
	return unlockedSeller{
		stock: stock,
		sale: service.Sale{
			Run:    history.Run{ID: Run},
			Locker: row.New(strategy.Parts{Options: lock.Options{Clock: clock}}), Stock: uncancelled{stock.Store}, Clock: clock,
			Log: slog.New(slog.DiscardHandler), Update: row.Update,
			Backoff: service.Backoff{Delay: env.RetryPause, MaxDuration: env.WaitTimeout, Clock: clock, Rand: mathrand.Int64N},
		},
	}
}

// Sell implements Seller. Without a lock the wait ends when the piece is sold.
func (u unlockedSeller) Sell(ctx context.Context, entered func()) (sold bool, err error) {
	id := rand.Text()
	if _, err := u.sale.Sell(ctx, id, lock.Owner(id)); err != nil {
		return false, err
	}
	entered()
	return true, nil
}

// uncancelled is a stock whose commands ignore the end of ctx, so that the outcome of a sale that has begun is known.
type uncancelled struct{ service.Stock }

// Read implements service.Stock.
func (u uncancelled) Read(ctx context.Context, order history.Order) (int64, error) {
	return u.Stock.Read(context.WithoutCancel(ctx), order)
}

// Write implements service.Stock.
func (u uncancelled) Write(ctx context.Context, order history.Order) (history.Order, error) {
	return u.Stock.Write(context.WithoutCancel(ctx), order)
}

// Take implements service.Stock.
func (u uncancelled) Take(ctx context.Context, order history.Order) (history.Order, error) {
	return u.Stock.Take(context.WithoutCancel(ctx), order)
}

// TakeUnchecked implements service.Stock.
func (u uncancelled) TakeUnchecked(ctx context.Context, order history.Order) (history.Order, error) {
	return u.Stock.TakeUnchecked(context.WithoutCancel(ctx), order)
}

// Watch implements service.Stock.
func (u uncancelled) Watch(ctx context.Context, sell func(service.Stock) error) error {
	return u.Stock.Watch(context.WithoutCancel(ctx), func(stock service.Stock) error { return sell(uncancelled{stock}) })
}
