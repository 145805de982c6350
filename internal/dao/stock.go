package dao

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/history"
	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/util/lua"
)

// Store is the stock and the ledger in a Redis.
type Store struct {
	client   redis.UniversalClient
	instance string
}

// NewStore makes the store of one replica, whose instance is a name no other process has.
func NewStore(client redis.UniversalClient, instance string) *Store {
	return &Store{client: client, instance: instance}
}

// Read is the sale's GET inventory; with a token, by a script that looks at it.
func (s *Store) Read(ctx context.Context, fence int64) (int64, error) {
	if fence != 0 {
		return s.readFenced(ctx, fence)
	}
	value, err := s.client.Get(ctx, InventoryKey).Result()
	return readStock(ctx, value, err)
}

// Write is the sale's SET inventory, in one transaction with the order, so that no crash parts them.
func (s *Store) Write(ctx context.Context, order history.Order) error {
	line, err := json.Marshal(order)
	if err != nil {
		return fmt.Errorf("order %s: %w", order.ID, err)
	}
	if order.Fence != 0 {
		return s.writeFenced(ctx, order, line)
	}
	return write(ctx, s.client, order, line)
}

// write sets the stock in a transaction of its own, or in one that watches.
func write(ctx context.Context, client interface {
	TxPipelined(context.Context, func(redis.Pipeliner) error) ([]redis.Cmder, error)
}, order history.Order, line []byte) error {
	_, err := client.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		tx.Set(ctx, InventoryKey, order.After, 0)
		tx.HSet(ctx, RunKey, "written", order.After)
		tx.RPush(ctx, OrdersKey(order.RunID), line)
		return nil
	})
	switch {
	case errors.Is(err, redis.TxFailedErr):
		return service.ErrConflict
	case err != nil:
		return lock.Failed(ctx, "SET inventory", err)
	}
	return nil
}

func (s *Store) readFenced(ctx context.Context, fence int64) (int64, error) {
	reply, err := s.client.Eval(ctx, lua.ReadFenced, []string{InventoryKey, fenceKey}, fence).Slice()
	switch {
	case err != nil:
		return 0, lock.Failed(ctx, "EVAL readFenced.lua", err)
	case reply[0] == int64(0):
		return 0, stale(fence)
	}
	return stockIn(ctx, reply)
}

// stockIn reads the stock in a script's reply: its second value, unless there is none, or the first is 2 for a key of another
// type.
func stockIn(ctx context.Context, reply []any) (int64, error) {
	switch {
	case len(reply) == 2:
		return readStock(ctx, fmt.Sprint(reply[1]), nil)
	case reply[0] == int64(2):
		return 0, badStock("is not a string")
	}
	return readStock(ctx, "", redis.Nil)
}

func (s *Store) writeFenced(ctx context.Context, order history.Order, line []byte) error {
	written, err := s.client.Eval(ctx, lua.WriteFenced, []string{InventoryKey, fenceKey, RunKey, OrdersKey(order.RunID)},
		order.Fence, order.After, line, order.RunID).Int()
	switch {
	case err != nil:
		return lock.Failed(ctx, "EVAL writeFenced.lua", err)
	case written == 0:
		return stale(order.Fence)
	case written == 2:
		return fmt.Errorf("%w: its run is over", lock.ErrLost)
	}
	return nil
}

func stale(fence int64) error {
	return fmt.Errorf("%w: the store has seen a larger fencing token than %d", lock.ErrLost, fence)
}

// readStock makes a stock of what GET inventory answered.
func readStock(ctx context.Context, value string, err error) (int64, error) {
	switch {
	case errors.Is(err, redis.Nil):
		return 0, badStock("does not exist")
	case redis.HasErrorPrefix(err, "WRONGTYPE"):
		return 0, badStock("is not a string")
	case err != nil:
		return 0, lock.Failed(ctx, "GET inventory", err)
	}
	stock, err := strconv.ParseInt(value, 10, 64)
	if err != nil || stock < 0 || stock > history.MaxStock {
		return 0, badStock(fmt.Sprintf("holds %.40q", value))
	}
	return stock, nil
}

func badStock(what string) error {
	return fmt.Errorf("%w: the key %s %s; it takes a whole number from 0 to %d, as by redis-cli set %s 200 or PUT /inventory",
		service.ErrBadStock, InventoryKey, what, history.MaxStock, InventoryKey)
}
