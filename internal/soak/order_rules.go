package soak

import (
	"slices"
	"time"
)

func (t *timeline) checkSoldHaveOrders(check *Check) {
	for i, sale := range t.Sales {
		if !sale.sold() {
			continue
		}
		check.Checked++
		switch n := len(t.ordersByID[sale.OrderID]); {
		case t.saleByOrder[sale.OrderID] != &t.Sales[i]:
			check.addBroken("order %s was told to two buyers, by %s at %s and before or after", sale.OrderID, sale.Replica, t.at(sale.End))
		case n == 1:
		case sale.HasKey && t.wasForgotten(sale.OrderID): // see repeatsSellOnce
		case n > 1:
			check.addBroken("order %s is in %d ledgers", sale.OrderID, n)
		case slices.ContainsFunc(t.Faults, func(f Injected) bool { return f.mayHaveLost(sale) }):
			check.Excused++
		default:
			check.addBroken("order %s of run %s, answered by %s at %s, is in no ledger", sale.OrderID, sale.RunID, sale.Replica, t.at(sale.End))
		}
	}
	if check.Excused > 0 {
		check.addNote("%d orders were in no reading of a ledger before it was destroyed", check.Excused)
	}
}

func (t *timeline) checkRefusedHaveNoOrder(check *Check) {
	for _, sale := range t.Sales {
		if sale.outcome() != outcomeNotMade {
			continue
		}
		switch {
		case sale.OrderID == "":
			check.addUnchecked("%d %s at %s does not say its order's id", sale.Status, sale.Code, t.at(sale.End))
		case len(t.ordersByID[sale.OrderID]) > 0:
			check.Checked++
			check.addBroken("%s was told to order %s at %s, and it is in the ledger", sale.Code, sale.OrderID, t.at(sale.End))
		default:
			check.Checked++
		}
	}
}

func (t *timeline) checkDoubts(check *Check) {
	for _, doubt := range t.Doubts {
		orders := t.ordersByID[doubt.OrderID]
		there := len(orders) > 0
		switch check.Checked++; {
		case doubt.Error != "":
			check.addUnchecked("order %s: %s", doubt.OrderID, doubt.Error)
		case doubt.Found && !there:
			check.addBroken("order %s is found, and is in no ledger", doubt.OrderID)
		case doubt.Found || !there:
		case slices.ContainsFunc(t.Faults, func(f Injected) bool { return f.mayHaveRemoved(*orders[0]) }):
			check.Excused++
		default:
			check.addBroken("order %s is in the ledger of run %s, and is not found", doubt.OrderID, orders[0].Run)
		}
	}
}

// checkRepeatsSellOnce looks at every sale with a key: all of its requests are one order, unless Redis has forgotten that in between.
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
			check.addBroken("a buyer was told of order %s by %s at %s, which is not that of its key", sale.OtherOrderID, sale.Replica, t.at(sale.End))
		case n <= 1:
		case t.wasForgotten(sale.OrderID):
			check.Excused++
		default:
			check.addBroken("order %s, asked for %d times, is in %d ledgers", sale.OrderID, 1+sale.Repeats, n)
		}
	}
	if check.Checked > 0 {
		check.addNote("%d requests were repeats", repeats)
	}
}

// wasForgotten reports whether Redis may have forgotten an order before it was written for the second time.
func (t *timeline) wasForgotten(id string) bool {
	orders := t.ordersByID[id]
	return len(orders) == 2 && slices.ContainsFunc(t.Faults, func(f Injected) bool {
		return f.mayHaveRemoved(*orders[0]) && f.Begin.Before(orders[1].At)
	})
}

// checkOrigins looks for a buyer of every order: a buyer who was told its id, or one who was told nothing, see silent.
func (t *timeline) checkOrigins(check *Check) {
	silent, foundOut := anonymousBuyers{}, 0
	for _, sale := range t.Sales {
		if sale.OrderID == "" && (sale.outcome() == outcomeUnknown || sale.outcome() == outcomeNotMade) {
			silent.pending = append(silent.pending, sale)
		}
	}
	for _, order := range t.Orders {
		check.Checked++
		switch sale := t.saleByOrder[order.ID]; {
		case sale != nil && sale.outcome() == outcomeUnknown, sale == nil && silent.claim(order.At):
			foundOut++
		case sale == nil:
			check.addBroken("order %s of run %s, written at %s, is nobody's", order.ID, order.Run, t.at(order.At))
		}
	}
	check.addNote("%d sales of unknown outcome or without an id; %d of them were made", t.outcomes[outcomeUnknown], foundOut)
}

func (t *timeline) checkReceipts(check *Check) {
	for _, order := range t.Orders {
		check.Checked++
		sale := t.saleByOrder[order.ID]
		known := sale != nil && sale.sold()
		switch {
		case order.RunID != order.Run:
			check.addBroken("order %s of run %s is in the ledger of run %s", order.ID, order.RunID, order.Run)
		case known && sale.HasKey && sale.RunID != order.Run && t.wasForgotten(order.ID):
			check.Excused++
		case known && sale.RunID != order.Run:
			check.addBroken("order %s was told to be of run %s, and is in the ledger of run %s", order.ID, sale.RunID, order.Run)
		case known && (sale.Before != order.Before || sale.After != order.After || sale.Fence != order.Fence):
			check.addBroken("order %s was told to take the stock from %d to %d with token %d; the ledger has %d, %d, %d",
				order.ID, sale.Before, sale.After, sale.Fence, order.Before, order.After, order.Fence)
		}
	}
}

// lateWriteLimit is how long after a buyer went away its order may still be written: longer than any fault holds a sale up.
const lateWriteLimit = requestTimeout

// anonymousBuyers are the buyers who were told no order's id. Each can have one order, which is written from when it asks until it cannot come any
// more.
type anonymousBuyers struct {
	pending   []Sale      // that have not asked yet
	deadlines []time.Time // until when those who have asked can have theirs, the first to end first
}

// claim gives one of them an order that was written at that moment, and reports whether there is one left for it. It is asked about one
// order after the other, as they were written.
func (s *anonymousBuyers) claim(at time.Time) bool {
	for ; len(s.pending) > 0 && !s.pending[0].Start.After(at); s.pending = s.pending[1:] {
		until := s.pending[0].End.Add(lateWriteLimit)
		i, _ := slices.BinarySearchFunc(s.deadlines, until, time.Time.Compare)
		s.deadlines = slices.Insert(s.deadlines, i, until)
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
