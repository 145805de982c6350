package dao

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock/rediserr"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/util/lua"
)

// Order looks up an order in the current run and in the earlier runs whose orders are kept. It fails with service.ErrNoOrder.
func (s *Store) Order(ctx context.Context, id string) (history.Order, error) {
	var current *redis.StringCmd
	var past *redis.StringSliceCmd
	err := ReadOnMaster(ctx, s.client, RunKey, func(tx redis.Pipeliner) {
		current = tx.HGet(ctx, RunKey, "id")
		past = tx.LRange(ctx, pastRunsKey, 0, -1)
	})
	if errors.Is(err, redis.Nil) { // HGET found no current run.
		err = past.Err()
	}
	if err != nil {
		return history.Order{}, rediserr.Classify(ctx, "MULTI runs", err)
	}
	var lines []*redis.StringCmd
	err = ReadOnMaster(ctx, s.client, RunKey, func(tx redis.Pipeliner) {
		for _, runID := range append([]string{current.Val()}, past.Val()...) {
			newest, older := OrdersKeys(runID)
			lines = append(lines, tx.HGet(ctx, newest, id), tx.HGet(ctx, older, id))
		}
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return history.Order{}, rediserr.Classify(ctx, "MULTI orders", err)
	}
	for _, line := range lines {
		if errors.Is(line.Err(), redis.Nil) {
			continue
		}
		if line.Err() != nil { // TxPipelined returned only the first error.
			return history.Order{}, rediserr.Classify(ctx, "MULTI orders", line.Err())
		}
		return parseOrder(id, line.Val())
	}
	return history.Order{}, service.ErrNoOrder
}

// parseOrder parses the JSON of an order in the ledger.
func parseOrder(id, line string) (order history.Order, err error) {
	if err := json.Unmarshal([]byte(line), &order); err != nil {
		return order, fmt.Errorf("order %s: %w", id, err)
	}
	return order, nil
}

// deleteOldOrders deletes the orders of all earlier runs, to free memory. Orders that cannot be deleted stay.
func (s *Store) deleteOldOrders(ctx context.Context) {
	runs, err := s.client.LRange(ctx, pastRunsKey, 0, -1).Result()
	if err != nil {
		return
	}
	for _, runID := range runs {
		newest, older := OrdersKeys(runID)
		if s.client.Del(ctx, newest, older).Err() == nil {
			s.client.LRem(ctx, pastRunsKey, 0, runID)
		}
	}
}

// ReadOnMaster executes the commands that read adds, in a transaction that fails on a replica, whose data may be stale or may never have
// been on the master. It returns the error of the first failed command. The transaction begins with a script that declares a write and
// changes nothing: the ROLE command is not used because a user with read and write access may lack the right to it.
func ReadOnMaster(ctx context.Context, client redis.Cmdable, key string, read func(redis.Pipeliner)) error {
	_, err := client.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		tx.Eval(ctx, lua.OnMaster, []string{key})
		read(tx)
		return nil
	})
	return err
}
