package dao

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/util/lua"
)

// Store is the stock and the ledger in a Redis.
type Store struct {
	Calls lock.Notifier // by which it hears that another replica calls; nil: it does not

	client    redis.UniversalClient
	instance  string
	maxOrders int64
}

// NewStore makes the store of one replica. Its instance is a name that no other process has. Its ledger keeps the newest orders: at most
// maxOrders of the current run, and as many of all earlier runs together.
func NewStore(client redis.UniversalClient, instance string, maxOrders int64) *Store {
	return &Store{client: client, instance: instance, maxOrders: maxOrders}
}

// Read sends the sale's GET inventory; if the order has a fencing token, a script that checks the token.
func (s *Store) Read(ctx context.Context, order history.Order) (int64, error) {
	if order.Fence != 0 {
		return s.readFenced(ctx, order)
	}
	value, err := s.client.Get(ctx, InventoryKey).Result()
	return readStock(ctx, value, err)
}

func (s *Store) readFenced(ctx context.Context, order history.Order) (int64, error) {
	reply, err := s.client.Eval(ctx, lua.ReadFenced, []string{InventoryKey, RunKey, fenceKey}, order.Fence, order.RunID).Slice()
	switch {
	case err != nil:
		return 0, s.failure(ctx, "EVAL readFenced.lua", order.RunID, err)
	case reply[0] == int64(0):
		return 0, stale(order.Fence)
	case reply[0] == int64(4):
		return 0, s.badData(ctx, order.RunID, errMended)
	}
	return stockIn(ctx, reply)
}

// Write sends the sale's SET inventory. One script writes stock and order, so that a crash cannot separate them, and no sale writes into
// another run, or twice.
func (s *Store) Write(ctx context.Context, order history.Order) (history.Order, error) {
	reply, err := s.sendWrite(ctx, s.client, order)
	if err == nil && rediserr.HasCode(reply.Err(), "OOM") {
		s.forgetRunsOver(ctx)
		reply, err = s.sendWrite(ctx, s.client, order)
	}
	if err != nil {
		return order, err
	}
	return s.written(ctx, "EVAL write.lua", reply, order)
}

// sendWrite sends write.lua by itself, or puts it into a transaction.
func (s *Store) sendWrite(ctx context.Context, to redis.Cmdable, order history.Order) (*redis.Cmd, error) {
	line, err := json.Marshal(order)
	if err != nil {
		return nil, fmt.Errorf("order %s: %w", order.ID, err)
	}
	newest, older := OrdersKeys(order.RunID)
	return to.Eval(ctx, lua.Write, []string{InventoryKey, RunKey, newest, older, fenceKey},
		order.After, order.Fence, order.RunID, order.ID, line, order.Overlap, s.fullHash()), nil
}

// written returns the order that write.lua or take.lua has written, now or before, or the error of what it answered.
func (s *Store) written(ctx context.Context, command string, reply *redis.Cmd, order history.Order) (history.Order, error) {
	value, err := reply.Result()
	if err != nil {
		return order, s.failure(ctx, command, order.RunID, err)
	}
	switch value := value.(type) {
	case string:
		return parseOrder(order.ID, value)
	case int64:
		return order, s.refusal(ctx, value, order)
	default:
		return order, fmt.Errorf("%s: it answered %v", command, value)
	}
}

// refusal returns the error of a number that write.lua answered; nil if it has written.
func (s *Store) refusal(ctx context.Context, reply int64, order history.Order) error {
	switch reply {
	case 0:
		return stale(order.Fence)
	case 2:
		return errOver
	case 3:
		return s.badData(ctx, order.RunID, errMended)
	case 4:
		return errChanged
	}
	return nil
}

// fullHash returns how many orders one hash takes: each run has two.
func (s *Store) fullHash() int64 { return max(1, s.maxOrders/2) }

var (
	errOver    = fmt.Errorf("%w: a new one began, or Redis has forgotten it; nothing was written", service.ErrRunOver)
	errChanged = fmt.Errorf("%w; nothing was written", service.ErrRunChanged)
)

func stale(fence int64) error {
	return fmt.Errorf("%w: the store has seen a larger fencing token than %d", lock.ErrLost, fence)
}

// stockIn reads the stock in a script's reply: its second value, if it has one. Without one, a first value of 2 means a key of another
// type, and 3 a run that is over.
func stockIn(ctx context.Context, reply []any) (int64, error) {
	switch {
	case len(reply) == 2:
		return readStock(ctx, fmt.Sprint(reply[1]), nil)
	case reply[0] == int64(2):
		return 0, badStock("is not a string")
	case reply[0] == int64(3):
		return 0, errOver
	}
	return readStock(ctx, "", redis.Nil)
}

// readStock makes a stock of what GET inventory answered. If the key is gone, so is its run.
func readStock(ctx context.Context, value string, err error) (int64, error) {
	switch {
	case err == nil:
	case errors.Is(err, redis.Nil):
		return 0, fmt.Errorf("%w: the key %s is gone; nothing was written", service.ErrRunOver, InventoryKey)
	case rediserr.IsWrongType(err):
		return 0, badStock("is not a string")
	default:
		return 0, rediserr.Classify(ctx, "GET inventory", err)
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
