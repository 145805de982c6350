package dao

import (
	"context"
	"encoding/json"
	"fmt"

	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/util/lua"
)

// Take reads the stock, decrements it and writes the order down in one script.
func (s *Store) Take(ctx context.Context, order history.Order) (history.Order, error) {
	line, err := json.Marshal(order)
	if err != nil {
		return order, fmt.Errorf("order %s: %w", order.ID, err)
	}
	newest, older := OrdersKeys(order.RunID)
	reply, err := s.client.Eval(ctx, lua.Take, []string{InventoryKey, RunKey, newest, older},
		order.RunID, order.ID, line, s.fullHash(), keepSeconds, history.MaxStock).Slice()
	switch {
	case err != nil:
		return order, s.failure(ctx, "EVAL take.lua", order.RunID, err)
	case reply[0] == int64(4):
		return order, s.badData(ctx, order.RunID, errMended)
	}
	if order.Before, err = stockIn(ctx, reply); err != nil {
		return order, err
	}
	switch taken := reply[0] == int64(1); {
	case !taken && order.Before == 0:
		return order, service.ErrSoldOut
	case !taken:
		return order, badStock(fmt.Sprintf("holds %.40q", reply[1])) // a number as no sale writes it
	}
	order.After = order.Before - 1
	return order, nil
}
