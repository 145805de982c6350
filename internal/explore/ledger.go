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

// opening returns the commands that begin the run. If the stock is in segments, all of it is in the first: the others are sold out.
func opening(segmented bool) [][]string {
	stock := strconv.Itoa(engine.InitialStock)
	commands := [][]string{{"SET", dao.InventoryKey, stock}, {"HSET", dao.RunKey, "id", runID, "written", stock}}
	for i := 1; segmented && i <= Segments; i++ {
		segment, _ := dao.SegmentKeys(i)
		commands = append(commands, []string{"SET", segment, stock})
		stock = "0"
	}
	return commands
}

// stockOf returns what is left in a segment, counted from 1; of 0, in all. It is "" if the server does not hold it.
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

// ledger is what a server holds, read.
type ledger struct {
	news []history.Order // that were added since it was read last
	rest *simredis.State // what is left of it, with whose each order is
}

// readLedger reads the ledger in what a command leaves. Of an order that is news only the owner stays: nobody reads more, and states stay
// few. A name in an owner is renamed as others.
func (h *Harness) readLedger(s *simredis.State) (l ledger, err error) {
	l, known := h.ledgers[s]
	if known {
		return l, nil
	}
	newest, _ := dao.OrdersKeys(runID)
	k, _ := s.Key(newest)
	var forget [][]string
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
		l.news, forget = append(l.news, order), append(forget, []string{"HSET", newest, id, owner})
	}
	if l.rest, err = h.memory.StateAfter(s, forget...); err == nil {
		h.ledgers[s] = l
	}
	return l, err
}
