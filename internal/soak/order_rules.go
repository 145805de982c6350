package soak

import (
	"slices"
	"time"
)

// checkSoldHaveOrders checks that each sale answered 200 has exactly one order, unless a fault destroyed the ledger.
func (t *timeline) checkSoldHaveOrders(check *Check) {
	for i, sale := range t.Sales {
		if !sale.isSold() {
			continue
		}
		check.Checked++
		switch n := len(t.ordersByID[sale.OrderID]); {
		case t.saleByOrder[sale.OrderID] != &t.Sales[i]:
			check.addBroken("two buyers were answered with order %s, one by %s at %s", sale.OrderID, sale.Replica, t.offsetText(sale.End))
		case n == 1:
		case sale.HasKey && t.wasForgotten(sale.OrderID): // excused, and counted, by checkRepeatsSellOnce
		case n > 1:
			check.addBroken("order %s is in %d ledgers", sale.OrderID, n)
		case slices.ContainsFunc(t.Faults, func(f Injected) bool { return f.mayHaveLost(sale) }):
			check.Excused++
		default:
			check.addBroken("order %s of run %s, answered by %s at %s, is in no ledger",
				sale.OrderID, sale.RunID, sale.Replica, t.offsetText(sale.End))
		}
	}
	if check.Excused > 0 {
		check.addNote("%d orders were written after the last reading of a ledger that was then destroyed", check.Excused)
	}
}

// checkRefusedHaveNoOrder checks that no refused sale has an order.
func (t *timeline) checkRefusedHaveNoOrder(check *Check) {
	for _, sale := range t.Sales {
		if sale.outcome() != outcomeNotMade {
			continue
		}
		switch {
		case sale.OrderID == "":
			check.addUnchecked("%d %s at %s does not name its order", sale.Status, sale.Code, t.offsetText(sale.End))
		case len(t.ordersByID[sale.OrderID]) > 0:
			check.Checked++
			check.addBroken("order %s is in a ledger, but its buyer was answered %s at %s", sale.OrderID, sale.Code, t.offsetText(sale.End))
		default:
			check.Checked++
		}
	}
}

// checkLookups checks that GET /orders found an order of unknown outcome if, and only if, it is in a ledger.
func (t *timeline) checkLookups(check *Check) {
	for _, lookup := range t.Lookups {
		orders := t.ordersByID[lookup.OrderID]
		inLedger := len(orders) > 0
		check.Checked++
		switch {
		case lookup.Error != "":
			check.addUnchecked("order %s: %s", lookup.OrderID, lookup.Error)
		case lookup.Found && !inLedger:
			check.addBroken("GET /orders finds order %s, which is in no ledger", lookup.OrderID)
		case lookup.Found || !inLedger:
		case slices.ContainsFunc(t.Faults, func(f Injected) bool { return f.mayHaveRemoved(*orders[0]) }):
			check.Excused++
		default:
			check.addBroken("GET /orders does not find order %s, which is in the ledger of run %s", lookup.OrderID, orders[0].Run)
		}
	}
}

// checkRepeatsSellOnce checks that all requests with one key made one order, unless a fault destroyed that order in between.
func (t *timeline) checkRepeatsSellOnce(check *Check) {
	repeats := 0
	for _, sale := range t.Sales {
		if !sale.HasKey {
			continue
		}
		check.Checked++
		repeats += sale.Repeats
		switch n := len(t.ordersByID[sale.OrderID]); {
		case sale.OtherOrderID != "":
			check.addBroken("a buyer was answered with order %s by %s at %s, which is not the order of its key",
				sale.OtherOrderID, sale.Replica, t.offsetText(sale.End))
		case n <= 1:
		case t.wasForgotten(sale.OrderID):
			check.Excused++
		default:
			check.addBroken("order %s, requested %d times, is in %d ledgers", sale.OrderID, 1+sale.Repeats, n)
		}
	}
	if check.Checked > 0 {
		check.addNote("%d requests were repeats", repeats)
	}
}

// wasForgotten reports whether an order is in two ledgers because a fault may have removed it before it was written again.
func (t *timeline) wasForgotten(id string) bool {
	orders := t.ordersByID[id]
	return len(orders) == 2 && slices.ContainsFunc(t.Faults, func(f Injected) bool {
		return f.mayHaveRemoved(*orders[0]) && f.Begin.Before(orders[1].At)
	})
}

// checkOrigins checks that each order belongs to a sale that was made or whose outcome is unknown. Its sale is the one whose answer names
// the order or, if there is none, one of the sales whose answers do not name an order.
func (t *timeline) checkOrigins(check *Check) {
	var unnamed unnamedSales
	for _, sale := range t.Sales {
		if sale.OrderID == "" && (sale.outcome() == outcomeUnknown || sale.outcome() == outcomeNotMade) {
			unnamed.upcoming = append(unnamed.upcoming, sale)
		}
	}
	made := 0
	for _, order := range t.Orders {
		check.Checked++
		sale := t.saleByOrder[order.ID]
		switch {
		case sale != nil && sale.outcome() == outcomeUnknown, sale == nil && unnamed.claim(order.At):
			made++
		case sale == nil:
			check.addBroken("order %s of run %s, written at %s, belongs to no sale", order.ID, order.Run, t.offsetText(order.At))
		}
	}
	check.addNote("%d sales of unknown outcome; of these and of sales without an order id %d were made", t.outcomes[outcomeUnknown], made)
}

// checkReceipts checks that each order in a ledger agrees with the answer to its buyer.
func (t *timeline) checkReceipts(check *Check) {
	for _, order := range t.Orders {
		check.Checked++
		sale := t.saleByOrder[order.ID]
		hasAnswer := sale != nil && sale.isSold()
		switch {
		case order.RunID != order.Run:
			check.addBroken("order %s of run %s is in the ledger of run %s", order.ID, order.RunID, order.Run)
		case hasAnswer && sale.HasKey && sale.RunID != order.Run && t.wasForgotten(order.ID):
			check.Excused++
		case hasAnswer && sale.RunID != order.Run:
			check.addBroken("order %s is of run %s in the answer, but in the ledger of run %s", order.ID, sale.RunID, order.Run)
		case hasAnswer && (sale.Before != order.Before || sale.After != order.After || sale.Fence != order.Fence):
			check.addBroken("order %s takes the stock from %d to %d with token %d in the answer; in the ledger from %d to %d with token %d",
				order.ID, sale.Before, sale.After, sale.Fence, order.Before, order.After, order.Fence)
		}
	}
}

// lateWriteLimit is the longest time from the end of a request until its order is written. No fault delays a sale for longer.
const lateWriteLimit = requestTimeout

// unnamedSales has the sales whose answers do not name an order. Each can have made one order, written between its start and its deadline.
type unnamedSales struct {
	upcoming  []Sale      // sales that began after the last claimed order was written, sorted by their starts
	deadlines []time.Time // latest times at which the orders of the other unassigned sales can be written, sorted
}

// claim assigns an order that was written at a time to one of the sales. It returns false if no sale is left that can have made the order.
// The times of successive calls must not decrease.
func (s *unnamedSales) claim(at time.Time) bool {
	for len(s.upcoming) > 0 && !s.upcoming[0].Start.After(at) {
		deadline := s.upcoming[0].End.Add(lateWriteLimit)
		i, _ := slices.BinarySearchFunc(s.deadlines, deadline, time.Time.Compare)
		s.deadlines = slices.Insert(s.deadlines, i, deadline)
		s.upcoming = s.upcoming[1:]
	}
	for len(s.deadlines) > 0 && s.deadlines[0].Before(at) {
		s.deadlines = s.deadlines[1:]
	}
	if len(s.deadlines) == 0 {
		return false
	}
	s.deadlines = s.deadlines[1:]
	return true
}
