package dao

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock/rediserr"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/util/lua"
)

// Watch implements service.Stock: it sends WATCH and calls sell with a stock whose Write fails with service.ErrConflict if the stock has
// changed since.
func (s *Store) Watch(ctx context.Context, sell func(service.Stock) error) error {
	began := false
	// Not ctx: if UNWATCH were cancelled with the sale, the connection would return to the pool while still watching.
	err := s.client.Watch(context.WithoutCancel(ctx), func(tx *redis.Tx) error {
		began = true
		return sell(watchedStock{s, tx})
	}, InventoryKey)
	switch {
	case isRedirection(err): // The slot moved, and nothing was written.
		return fmt.Errorf("%w: %w", service.ErrConflict, err)
	case err != nil && !began:
		return rediserr.Classify(ctx, "WATCH inventory", err)
	}
	return err
}

// watchedStock is the stock seen through a connection that has sent WATCH.
type watchedStock struct {
	*Store
	tx *redis.Tx
}

// Read sends GET inventory on the watching connection.
func (w watchedStock) Read(ctx context.Context, _ history.Order) (int64, error) {
	value, err := w.tx.Get(ctx, InventoryKey).Result()
	return parseStock(ctx, InventoryKey, value, err)
}

// Write writes like Store.Write, in a transaction that fails with service.ErrConflict if the stock has changed.
func (w watchedStock) Write(ctx context.Context, order history.Order) (history.Order, error) {
	var reply *redis.Cmd
	keys, args, err := w.writeArguments(order)
	if err != nil {
		return order, err
	}
	_, err = w.tx.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		reply = tx.Eval(ctx, lua.Write, keys, args...)
		return nil
	})
	switch {
	case errors.Is(err, redis.TxFailedErr):
		return order, service.ErrConflict
	case redis.IsExecAbortError(err) && isRedirection(reply.Err()):
		return order, reply.Err()
	case err != nil:
		return order, w.classifyError(ctx, "EVAL write.lua in MULTI", order.RunID, err)
	}
	return w.parseWriteReply(ctx, reply.Val(), nil, order)
}
