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

// unlocked is a sale without a lock: the shop's own, with its backoff.
type unlocked struct {
	sale service.Sale
	*stock
}

func openUnlocked(row strategy.Strategy, env Env) Seller {
	stock, clock := openStock(env), lock.SystemClock{}
	return unlocked{
		stock: stock,
		sale: service.Sale{
			Run:    history.Run{ID: Run},
			Locker: row.New(strategy.Parts{Options: lock.Options{Clock: clock}}), Stock: whole{stock.Store}, Clock: clock,
			Log: slog.New(slog.DiscardHandler), Update: row.Update,
			Backoff: service.Backoff{Delay: env.Retry, MaxDuration: env.Wait, Clock: clock, Rand: mathrand.Int64N},
		},
	}
}

// Sell is Seller's. There is no lock to wait for: the wait is over when it has sold.
func (u unlocked) Sell(ctx context.Context, entered func()) (sold bool, err error) {
	id := rand.Text()
	if _, err := u.sale.Sell(ctx, id, lock.Owner(id)); err != nil {
		return false, err
	}
	entered()
	return true, nil
}

// whole is a stock whose commands are not cut off when ctx ends: whether a sale that began was written down is known then.
type whole struct{ service.Stock }

// Read is the stock's.
func (w whole) Read(ctx context.Context, order history.Order) (int64, error) {
	return w.Stock.Read(context.WithoutCancel(ctx), order)
}

// Write is the stock's.
func (w whole) Write(ctx context.Context, order history.Order) (history.Order, error) {
	return w.Stock.Write(context.WithoutCancel(ctx), order)
}

// Take is the stock's.
func (w whole) Take(ctx context.Context, order history.Order, unchecked bool) (history.Order, error) {
	return w.Stock.Take(context.WithoutCancel(ctx), order, unchecked)
}

// Watch is the stock's.
func (w whole) Watch(ctx context.Context, sell func(service.Stock) error) error {
	return w.Stock.Watch(context.WithoutCancel(ctx), func(stock service.Stock) error { return sell(whole{stock}) })
}
