package contestants

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/history"
	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/strategy"
)

// unlocked is a sale without a lock: the shop's own, with its backoff, on a bare stock.
type unlocked struct {
	sale service.Sale
	*stock
}

func openUnlocked(row strategy.Strategy, env Env) Seller {
	stock, clock := openStock(env), lock.SystemClock{}
	return unlocked{
		stock: stock,
		sale: service.Sale{
			Locker: row.New(strategy.Parts{Options: lock.Options{Clock: clock}}), Stock: bare{client: stock.client}, Clock: clock,
			Log: slog.New(slog.DiscardHandler), Observer: nobody{}, Update: row.Update,
			Backoff: service.Backoff{Delay: env.Retry, MaxDuration: env.Wait, Clock: clock, Rand: rand.Int64N},
		},
	}
}

// Sell is Seller's. There is no lock to wait for: the wait is over when it has sold.
func (u unlocked) Sell(ctx context.Context, entered func()) (sold bool, err error) {
	if _, err := u.sale.Sell(ctx, history.Run{}, ""); err != nil {
		return false, err
	}
	entered()
	return true, nil
}

// takeOne is take.lua without what it writes down.
const takeOne = `
if tonumber(redis.call('GET', KEYS[1])) > 0 then
  return redis.call('DECR', KEYS[1])
end
return -1`

// bare is the stock without the orders, which a sale under a lock does not write here either. What is sent is not cut off when ctx ends.
type bare struct {
	service.Stock // for Read and Write, which are not called
	client        *redis.Client
}

// Take is one script.
func (b bare) Take(ctx context.Context, order history.Order) (history.Order, error) {
	left, err := b.client.Eval(context.WithoutCancel(ctx), takeOne, []string{dao.InventoryKey}).Int64()
	switch {
	case err != nil:
		return order, fmt.Errorf("EVAL: %w", err)
	case left < 0:
		return order, service.ErrSoldOut
	}
	order.Before, order.After = left+1, left
	return order, nil
}

// Watch is WATCH, and whatever sell does.
func (b bare) Watch(ctx context.Context, sell func(service.Stock) error) error {
	return b.client.Watch(context.WithoutCancel(ctx), func(tx *redis.Tx) error { return sell(watched{bare: b, tx: tx}) }, dao.InventoryKey)
}

// watched is the stock on the connection that watches it.
type watched struct {
	bare
	tx *redis.Tx
}

// Read is GET.
func (w watched) Read(ctx context.Context, _ history.Order) (int64, error) {
	left, err := w.tx.Get(context.WithoutCancel(ctx), dao.InventoryKey).Int64()
	if err != nil {
		return 0, fmt.Errorf("GET %s: %w", dao.InventoryKey, err)
	}
	return left, nil
}

// Write is MULTI, SET and EXEC, sent together.
func (w watched) Write(ctx context.Context, order history.Order) error {
	ctx = context.WithoutCancel(ctx)
	_, err := w.tx.TxPipelined(ctx, func(tx redis.Pipeliner) error { return tx.Set(ctx, dao.InventoryKey, order.After, 0).Err() })
	switch {
	case errors.Is(err, redis.TxFailedErr):
		return service.ErrConflict
	case err != nil:
		return fmt.Errorf("SET %s: %w", dao.InventoryKey, err)
	}
	return nil
}

// nobody observes nothing.
type nobody struct{}

func (nobody) Waits(string, int)            {}
func (nobody) Waited(string, time.Duration) {}
func (nobody) Held(string, time.Duration)   {}
func (nobody) Conflicted(string)            {}
