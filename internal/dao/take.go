package dao

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock/rediserr"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/util/lua"
)

// Take reads the stock, decrements it and writes the order down in one script, once for each order.
func (s *Store) Take(ctx context.Context, order history.Order) (history.Order, error) {
	return s.take(ctx, lua.Take, order)
}

// TakeUnchecked does the same, but again for an order that is written down already.
func (s *Store) TakeUnchecked(ctx context.Context, order history.Order) (history.Order, error) {
	return s.take(ctx, lua.Sell, order)
}

func (s *Store) take(ctx context.Context, script string, order history.Order) (history.Order, error) {
	line, err := json.Marshal(order)
	if err != nil {
		return order, fmt.Errorf("order %s: %w", order.ID, err)
	}
	newest, older := OrdersKeys(order.RunID)
	take := func() *redis.Cmd {
		return s.client.Eval(ctx, script, []string{InventoryKey, RunKey, newest, older},
			order.RunID, order.ID, line, order.Overlap, s.fullHash())
	}
	reply := take()
	if rediserr.HasCode(reply.Err(), "OOM") {
		s.forgetRunsOver(ctx)
		reply = take()
	}
	if reply.Val() == int64(1) {
		return order, service.ErrSoldOut
	}
	return s.written(ctx, "EVAL "+lua.File(script), reply, order)
}
