package explore

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"lockstep/internal/dao"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
	"lockstep/internal/service/history"
)

// openingCommands returns the commands that initialize the stock and the run. If the stock is segmented, all of it is in the first segment.
func openingCommands(segmented bool) [][]string {
	stock := strconv.Itoa(engine.InitialStock)
	commands := [][]string{{"SET", dao.InventoryKey, stock}, {"HSET", dao.RunKey, "id", runID, "written", stock}}
	for i := 1; segmented && i <= Segments; i++ {
		segment, _ := dao.SegmentKeys(i)
		commands = append(commands, []string{"SET", segment, stock})
		stock = "0"
	}
	return commands
}

// stockOf returns the remaining stock of a 1-based segment; 0: of the whole stock. It returns "" if the server does not have the key.
func stockOf(s *simredis.State, segment int) string {
	name := dao.InventoryKey
	if segment > 0 {
		name, _ = dao.SegmentKeys(segment)
	}
	k, _ := s.Key(name)
	return k.FirstValue()
}

// hasOrder reports whether an order with this id is in the ledger.
func hasOrder(s *simredis.State, id string) bool {
	newest, _ := dao.OrdersKeys(runID)
	k, _ := s.Key(newest)
	return slices.Contains(k.Values, id)
}

// ledger contains the orders that a command has added, and the server contents without the details of orders.
type ledger struct {
	newOrders []history.Order // orders that the last command has added, in full
	reduced   *simredis.State // server contents in which each order is reduced to its owner
}

// readLedger reads the orders that a command has added to the ledger, and reduces each of them to its owner. No code reads the other fields
// of an order, and without them fewer states differ. The symmetry reduction renames an actor inside an owner like any other name.
func (h *Harness) readLedger(s *simredis.State) (l ledger, err error) {
	l, ok := h.ledgers[s]
	if ok {
		return l, nil
	}
	newest, _ := dao.OrdersKeys(runID)
	k, _ := s.Key(newest)
	var reductions [][]string
	for i := 1; i < len(k.Values); i += 2 {
		id, text := k.Values[i-1], k.Values[i]
		owner := fmt.Sprintf(`{"owner":%q}`, lock.Owner(id))
		if text == owner {
			continue
		}
		var order history.Order
		if err = json.Unmarshal([]byte(text), &order); err != nil {
			return l, fmt.Errorf("the ledger %s: %w", newest, err)
		}
		l.newOrders = append(l.newOrders, order)
		reductions = append(reductions, []string{"HSET", newest, id, owner})
	}
	if l.reduced, err = h.simulator.StateAfter(s, reductions...); err == nil {
		h.ledgers[s] = l
	}
	return l, err
}
