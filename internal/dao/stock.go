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

// Read is the sale's GET inventory.
func (s *Store) Read(ctx context.Context) (int64, error) {
	value, err := s.client.Get(ctx, InventoryKey).Result()
	return readStock(ctx, value, err)
}

// Write is the sale's SET inventory, in one transaction with the order, so that no crash parts them.
func (s *Store) Write(ctx context.Context, order history.Order) error {
	line, err := json.Marshal(order)
	if err != nil {
		return fmt.Errorf("order %s: %w", order.ID, err)
	}
	_, err = s.client.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		tx.Set(ctx, InventoryKey, order.After, 0)
		tx.HSet(ctx, RunKey, "written", order.After)
		tx.RPush(ctx, OrdersKey(order.RunID), line)
		return nil
	})
	if err != nil {
		return lock.Failed(ctx, "SET inventory", err)
	}
	return nil
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
