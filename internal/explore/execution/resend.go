package execution

import (
	"fmt"
	"slices"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/service/history"
)

// news returns the orders that t's command adds to the ledger. If its client has sent the command before, and the stock is as it left it
// then, it writes what is written already.
func (t *Task) news(before *simredis.State, orders []history.Order) []history.Order {
	news := slices.DeleteFunc(slices.Clone(orders), func(o history.Order) bool {
		return before.Stock() == fmt.Sprint(o.After) &&
			slices.ContainsFunc(t.repeats, func(old history.Order) bool { return old.ID == o.ID })
	})
	t.repeats = nil
	if t.fate == Resends {
		t.repeats = orders
	}
	return news
}
