package dao

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/util/lua"
)

// Store is the stock and the order ledger of one replica in Redis. It implements service.Stock and service.Ledger.
type Store struct {
	HeartbeatRequests lock.Notifier // receives requests for a heartbeat; nil: none are received

	client    redis.UniversalClient
	instance  string               // unique name of this process
	maxOrders int64                // minimum number of orders kept; see NewStore
	scripts   map[string]runScript // script text -> function that sends the script
}

// NewStore returns the store of one replica. The name instance must be unique among all processes. The ledger keeps the newest orders: at
// least maxOrders of the current run, and as many of all earlier runs together.
func NewStore(client redis.UniversalClient, instance string, maxOrders int64) *Store {
	s := &Store{client: client, instance: instance, maxOrders: maxOrders, scripts: map[string]runScript{}}
	for _, script := range []string{lua.Beat, lua.Take, lua.Sell, lua.ReadFenced, lua.Write, lua.StartRun} {
		s.scripts[script] = redis.NewScript(script).Run
	}
	return s
}

// runScript sends a script to Redis.
type runScript func(ctx context.Context, client redis.Scripter, keys []string, args ...any) *redis.Cmd

// SetTokenCheck replaces the store's check of fencing tokens by a Lua function body; see lua.WithCheck. It makes the store send the changed
// scripts as text, because no server knows them yet.
func (s *Store) SetTokenCheck(check string) {
	for _, script := range []string{lua.ReadFenced, lua.Write} {
		s.scripts[script] = redis.NewScript(lua.WithCheck(script, check)).Eval
	}
}

// Read implements service.Stock: it sends GET inventory, or, for an order with a fencing token, a script that checks the token.
func (s *Store) Read(ctx context.Context, order history.Order) (int64, error) {
	if order.Fence != 0 {
		return s.readFenced(ctx, order)
	}
	stock, _ := stockKeys(order)
	value, err := s.client.Get(ctx, stock).Result()
	return parseStock(ctx, stock, value, err)
}

// stockKeys returns the key of an order's stock or segment, and the key of the largest fencing token seen there.
func stockKeys(order history.Order) (stock, fence string) {
	if order.Segment > 0 {
		return SegmentKeys(order.Segment)
	}
	return InventoryKey, fenceKey
}

// readFenced reads the stock with a script that fails with lock.ErrLost if a larger fencing token was seen.
func (s *Store) readFenced(ctx context.Context, order history.Order) (int64, error) {
	stock, fence := stockKeys(order)
	answer, err := s.eval(ctx, lua.ReadFenced, order.RunID, []string{stock, RunKey, fence}, order.Fence, order.RunID)
	if err != nil {
		return 0, err
	}
	reply, _ := answer.([]any) // The script always returns an array.
	if err := s.replyError(ctx, reply[0], order); err != nil {
		return 0, err
	}
	return parseStockReply(ctx, stock, reply[1:])
}

// parseStockReply parses the stock in the remaining elements of a script's reply: none if the key is gone, an array if it is not a string.
func parseStockReply(ctx context.Context, key string, reply []any) (int64, error) {
	if len(reply) == 0 {
		return parseStock(ctx, key, "", redis.Nil)
	}
	if value, ok := reply[0].(string); ok {
		return parseStock(ctx, key, value, nil)
	}
	return 0, badStockError(key, "is not a string")
}

// Write implements service.Stock. One script writes both the stock and the order, so that a crash cannot separate them and no sale writes
// into another run, or twice.
func (s *Store) Write(ctx context.Context, order history.Order) (history.Order, error) {
	keys, args, err := s.writeArguments(order)
	if err != nil {
		return order, err
	}
	reply, err := s.eval(ctx, lua.Write, order.RunID, keys, args...)
	return s.parseWriteReply(ctx, reply, err, order)
}

// writeArguments returns the keys and the arguments of write.lua for an order.
func (s *Store) writeArguments(order history.Order) (keys []string, args []any, err error) {
	line, err := json.Marshal(order)
	if err != nil {
		return nil, nil, fmt.Errorf("order %s: %w", order.ID, err)
	}
	newest, older := OrdersKeys(order.RunID)
	stock, fence := stockKeys(order)
	keys = []string{InventoryKey, RunKey, newest, older, fence}
	if order.Segment > 0 {
		others := slices.Delete(segmentStockKeys(order.SegmentCount), order.Segment-1, order.Segment)
		keys = append(append(keys, stock), others...)
	}
	return keys, []any{order.After, order.Fence, order.RunID, order.ID, line, order.Overlap, s.maxOrders}, nil
}

// Take implements service.Stock: one script decrements the stock and records the order, at most once per order.
func (s *Store) Take(ctx context.Context, order history.Order) (history.Order, error) {
	return s.take(ctx, lua.Take, order)
}

// TakeUnchecked implements service.Stock: its script sells again if the ledger already contains the order.
func (s *Store) TakeUnchecked(ctx context.Context, order history.Order) (history.Order, error) {
	return s.take(ctx, lua.Sell, order)
}

// take runs a script that reads and writes the stock.
func (s *Store) take(ctx context.Context, script string, order history.Order) (history.Order, error) {
	line, err := json.Marshal(order)
	if err != nil {
		return order, fmt.Errorf("order %s: %w", order.ID, err)
	}
	newest, older := OrdersKeys(order.RunID)
	reply, err := s.eval(ctx, script, order.RunID, []string{InventoryKey, RunKey, newest, older},
		order.RunID, order.ID, line, order.Overlap, s.maxOrders)
	return s.parseWriteReply(ctx, reply, err, order)
}

// eval executes a script: by its SHA-1, or by its text if the server does not know it yet. If Redis is out of memory, it deletes old orders
// and tries once more; both retries are safe because the refused script did nothing. The keys of run runID are searched for the cause of a
// failure.
func (s *Store) eval(ctx context.Context, script, runID string, keys []string, args ...any) (any, error) {
	run := s.scripts[script]
	reply, err := run(ctx, s.client, keys, args...).Result()
	if rediserr.HasCode(err, "OOM") {
		s.deleteOldOrders(ctx)
		reply, err = run(ctx, s.client, keys, args...).Result()
	}
	if err != nil {
		return nil, s.classifyError(ctx, "EVAL "+lua.File(script), runID, err)
	}
	return reply, nil
}

// parseWriteReply returns the order as recorded, now or by an earlier request, or the error that the reply of a script stands for.
func (s *Store) parseWriteReply(ctx context.Context, reply any, err error, order history.Order) (history.Order, error) {
	if line, ok := reply.(string); ok && err == nil {
		return parseOrder(order.ID, line)
	}
	return order, cmp.Or(err, s.replyError(ctx, reply, order))
}

// replyError returns the error that the reply of a sale's script stands for; nil if the script accepted the order.
func (s *Store) replyError(ctx context.Context, reply any, order history.Order) error {
	switch reply {
	case int64(lua.Accepted):
		return nil
	case int64(lua.Stale):
		return fmt.Errorf("%w: the store has seen a larger fencing token than %d", lock.ErrLost, order.Fence)
	case int64(lua.RunOver):
		return errRunOver
	case int64(lua.NotANumber):
		return s.findBadData(ctx, order.RunID, errRepaired)
	case int64(lua.StockChanged):
		return errStockChanged
	case int64(lua.SoldOut):
		return service.ErrSoldOut
	default:
		return fmt.Errorf("a ledger script returned an unexpected reply: %v", reply)
	}
}

var (
	errRunOver      = fmt.Errorf("%w: a new one began, or Redis has forgotten it; nothing was written", service.ErrRunOver)
	errStockChanged = fmt.Errorf("%w; nothing was written", service.ErrRunChanged)
)

// parseStock parses the reply to GET of a stock key. If the whole stock is missing, its run is over; a missing segment is only invalid.
func parseStock(ctx context.Context, key, value string, err error) (int64, error) {
	switch {
	case err == nil:
	case errors.Is(err, redis.Nil) && key != InventoryKey:
		return 0, badStockError(key, "is gone")
	case errors.Is(err, redis.Nil):
		return 0, fmt.Errorf("%w: the key %s is gone; nothing was written", service.ErrRunOver, InventoryKey)
	case rediserr.IsWrongType(err):
		return 0, badStockError(key, "is not a string")
	default:
		return 0, rediserr.Classify(ctx, "GET "+key, err)
	}
	stock, err := strconv.ParseInt(value, 10, 64)
	if err != nil || stock < 0 || stock > history.MaxStock {
		return 0, badStockError(key, fmt.Sprintf("holds %.40q", value))
	}
	return stock, nil
}

// badStockError returns a service.ErrBadStock with the problem of a stock key and its remedy.
func badStockError(key, problem string) error {
	if key != InventoryKey {
		return fmt.Errorf("%w: the key %s %s; PUT /inventory divides the stock again", service.ErrBadStock, key, problem)
	}
	return fmt.Errorf("%w: the key %s %s; it takes a whole number from 0 to %d, as by redis-cli set %s 200 or PUT /inventory",
		service.ErrBadStock, InventoryKey, problem, history.MaxStock, InventoryKey)
}
