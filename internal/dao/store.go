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

// Store is the stock and the ledger in a Redis.
type Store struct {
	Calls lock.Notifier // by which it hears that another replica calls; nil: it does not

	client    redis.UniversalClient
	instance  string
	maxOrders int64
	scripts   map[string]*redis.Script // by their text
}

// NewStore makes the store of one replica. Its instance is a name that no other process has. Its ledger keeps the newest orders: at least
// maxOrders of the current run, if there are so many, and as many of all earlier runs together.
func NewStore(client redis.UniversalClient, instance string, maxOrders int64) *Store {
	s := &Store{client: client, instance: instance, maxOrders: maxOrders, scripts: map[string]*redis.Script{}}
	for _, script := range []string{lua.Beat, lua.Take, lua.Sell, lua.ReadFenced, lua.Write, lua.StartRun} {
		s.scripts[script] = redis.NewScript(script)
	}
	return s
}

// Read sends the sale's GET inventory; if the order has a fencing token, a script that checks the token.
func (s *Store) Read(ctx context.Context, order history.Order) (int64, error) {
	if order.Fence != 0 {
		return s.readFenced(ctx, order)
	}
	stock, _ := stockKeys(order)
	value, err := s.client.Get(ctx, stock).Result()
	return parseStock(ctx, stock, value, err)
}

// keysOf returns the keys of the stock that an order is of, and of the largest token seen there.
func stockKeys(order history.Order) (stock, fence string) {
	if order.Segment > 0 {
		return SegmentKeys(order.Segment)
	}
	return InventoryKey, fenceKey
}

func (s *Store) readFenced(ctx context.Context, order history.Order) (int64, error) {
	stock, fence := stockKeys(order)
	answer, err := s.eval(ctx, lua.ReadFenced, order.RunID, []string{stock, RunKey, fence}, order.Fence, order.RunID)
	if err != nil {
		return 0, err
	}
	reply, _ := answer.([]any) // a script of ours
	if err := s.replyError(ctx, reply[0], order); err != nil {
		return 0, err
	}
	return parseStockReply(ctx, stock, reply[1:])
}

// stockIn reads the stock at the end of a script's reply: nothing if there is none, a list if it is no string.
func parseStockReply(ctx context.Context, key string, reply []any) (int64, error) {
	if len(reply) == 0 {
		return parseStock(ctx, key, "", redis.Nil)
	}
	if value, ok := reply[0].(string); ok {
		return parseStock(ctx, key, value, nil)
	}
	return 0, badStockError(key, "is not a string")
}

// Write sends the sale's SET inventory. One script writes stock and order, so that a crash cannot separate them, and no sale writes into
// another run, or twice.
func (s *Store) Write(ctx context.Context, order history.Order) (history.Order, error) {
	keys, args, err := s.writeArguments(order)
	if err != nil {
		return order, err
	}
	reply, err := s.eval(ctx, lua.Write, order.RunID, keys, args...)
	return s.parseWriteReply(ctx, reply, err, order)
}

// writing returns the keys and the arguments of write.lua.
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

// Take reads the stock, decrements it and writes the order down in one script: once for each order, or, unchecked, each time.
func (s *Store) Take(ctx context.Context, order history.Order, unchecked bool) (history.Order, error) {
	line, err := json.Marshal(order)
	if err != nil {
		return order, fmt.Errorf("order %s: %w", order.ID, err)
	}
	script := lua.Take
	if unchecked {
		script = lua.Sell
	}
	newest, older := OrdersKeys(order.RunID)
	reply, err := s.eval(ctx, script, order.RunID, []string{InventoryKey, RunKey, newest, older},
		order.RunID, order.ID, line, order.Overlap, s.maxOrders)
	return s.parseWriteReply(ctx, reply, err, order)
}

// eval sends a script by its SHA-1, and whole if that server does not know it yet: nothing was done then. It does so once more if Redis was
// out of memory and may have room now. A failure may be due to the keys of that run.
func (s *Store) eval(ctx context.Context, script, runID string, keys []string, args ...any) (any, error) {
	run := s.scripts[script].Run
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

// written returns the order that a script has written, now or before, or the error of what it answered.
func (s *Store) parseWriteReply(ctx context.Context, reply any, err error, order history.Order) (history.Order, error) {
	if line, ok := reply.(string); ok && err == nil {
		return parseOrder(order.ID, line)
	}
	return order, cmp.Or(err, s.replyError(ctx, reply, order))
}

// refusal returns the error of what a sale's script answered; nil if it was accepted.
func (s *Store) replyError(ctx context.Context, reply any, order history.Order) error {
	switch reply {
	case int64(lua.Accepted):
		return nil
	case int64(lua.Stale):
		return fmt.Errorf("%w: the store has seen a larger fencing token than %d", lock.ErrLost, order.Fence)
	case int64(lua.RunOver):
		return errRunOver
	case int64(lua.NoNumber):
		return s.findBadData(ctx, order.RunID, errRepaired)
	case int64(lua.StockChanged):
		return errStockChanged
	case int64(lua.SoldOut):
		return service.ErrSoldOut
	default:
		return fmt.Errorf("a script of the ledger answered %v", reply)
	}
}

var (
	errRunOver      = fmt.Errorf("%w: a new one began, or Redis has forgotten it; nothing was written", service.ErrRunOver)
	errStockChanged = fmt.Errorf("%w; nothing was written", service.ErrRunChanged)
)

// readStock makes a stock of what GET answered. If the stock is gone, so is its run; of a segment that is gone, only its number.
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

func badStockError(key, what string) error {
	if key != InventoryKey {
		return fmt.Errorf("%w: the key %s %s; PUT /inventory divides the stock anew", service.ErrBadStock, key, what)
	}
	return fmt.Errorf("%w: the key %s %s; it takes a whole number from 0 to %d, as by redis-cli set %s 200 or PUT /inventory",
		service.ErrBadStock, InventoryKey, what, history.MaxStock, InventoryKey)
}
