package soak

import (
	"slices"
	"time"
)

func (t *trial) soldHaveOrders(check *Check) {
	for i, sale := range t.Sales {
		if !sale.sold() {
			continue
		}
		check.Checked++
		switch n := len(t.orders[sale.OrderID]); {
		case t.told[sale.OrderID] != &t.Sales[i]:
			check.breaks("order %s was told to two buyers, by %s at %s and before or after", sale.OrderID, sale.Replica, t.at(sale.End))
		case n == 1:
		case sale.Keyed && t.forgot(sale.OrderID): // see repeatsSellOnce
		case n > 1:
			check.breaks("order %s is in %d ledgers", sale.OrderID, n)
		case slices.ContainsFunc(t.Faults, func(f Injected) bool { return f.isLoserOf(sale) }):
			check.Excused++
		default:
			check.breaks("order %s of run %s, answered by %s at %s, is in no ledger", sale.OrderID, sale.RunID, sale.Replica, t.at(sale.End))
		}
	}
	if check.Excused > 0 {
		check.note("%d orders were in no reading of a ledger before it was destroyed", check.Excused)
	}
}

func (t *trial) refusedHaveNone(check *Check) {
	for _, sale := range t.Sales {
		if sale.outcome() != notMade {
			continue
		}
		switch {
		case sale.OrderID == "":
			check.unknown("%d %s at %s does not say its order's id", sale.Status, sale.Code, t.at(sale.End))
		case len(t.orders[sale.OrderID]) > 0:
			check.Checked++
			check.breaks("%s was told to order %s at %s, and it is in the ledger", sale.Code, sale.OrderID, t.at(sale.End))
		default:
			check.Checked++
		}
	}
}

func (t *trial) checkDoubts(check *Check) {
	for _, doubt := range t.Doubts {
		orders := t.orders[doubt.OrderID]
		there := len(orders) > 0
		switch check.Checked++; {
		case doubt.Error != "":
			check.unknown("order %s: %s", doubt.OrderID, doubt.Error)
		case doubt.Found && !there:
			check.breaks("order %s is found, and is in no ledger", doubt.OrderID)
		case doubt.Found || !there:
		case slices.ContainsFunc(t.Faults, func(f Injected) bool { return f.mayHaveRemoved(*orders[0]) }):
			check.Excused++
		default:
			check.breaks("order %s is in the ledger of run %s, and is not found", doubt.OrderID, orders[0].Run)
		}
	}
}

// repeatsSellOnce looks at every sale with a key: all of its requests are one order, unless Redis has forgotten that in between.
func (t *trial) repeatsSellOnce(check *Check) {
	repeats := 0
	for _, sale := range t.Sales {
		if !sale.Keyed {
			continue
		}
		check.Checked++
		repeats += sale.Repeats
		switch n := len(t.orders[sale.OrderID]); {
		case sale.Strayed != "":
			check.breaks("a buyer was told of order %s by %s at %s, which is not that of its key", sale.Strayed, sale.Replica, t.at(sale.End))
		case n <= 1:
		case t.forgot(sale.OrderID):
			check.Excused++
		default:
			check.breaks("order %s, asked for %d times, is in %d ledgers", sale.OrderID, 1+sale.Repeats, n)
		}
	}
	if check.Checked > 0 {
		check.note("%d requests were repeats", repeats)
	}
}

// forgot reports whether Redis may have forgotten an order before it was written for the second time.
func (t *trial) forgot(id string) bool {
	orders := t.orders[id]
	return len(orders) == 2 && slices.ContainsFunc(t.Faults, func(f Injected) bool {
		return f.mayHaveRemoved(*orders[0]) && f.Begin.Before(orders[1].At)
	})
}

// checkOrigins looks for a buyer of every order: a buyer who was told its id, or one who was told nothing, see silent.
func (t *trial) checkOrigins(check *Check) {
	silent, foundOut := silent{}, 0
	for _, sale := range t.Sales {
		if sale.OrderID == "" && (sale.outcome() == unknown || sale.outcome() == notMade) {
			silent.next = append(silent.next, sale)
		}
	}
	for _, order := range t.Orders {
		check.Checked++
		switch sale := t.told[order.ID]; {
		case sale != nil && sale.outcome() == unknown, sale == nil && silent.has(order.At):
			foundOut++
		case sale == nil:
			check.breaks("order %s of run %s, written at %s, is nobody's", order.ID, order.Run, t.at(order.At))
		}
	}
	check.note("%d sales of unknown outcome or without an id; %d of them were made", t.outcomes[unknown], foundOut)
}

func (t *trial) checkReceipts(check *Check) {
	for _, order := range t.Orders {
		check.Checked++
		sale := t.told[order.ID]
		known := sale != nil && sale.sold()
		switch {
		case order.RunID != order.Run:
			check.breaks("order %s of run %s is in the ledger of run %s", order.ID, order.RunID, order.Run)
		case known && sale.Keyed && sale.RunID != order.Run && t.forgot(order.ID):
			check.Excused++
		case known && sale.RunID != order.Run:
			check.breaks("order %s was told to be of run %s, and is in the ledger of run %s", order.ID, sale.RunID, order.Run)
		case known && (sale.Before != order.Before || sale.After != order.After || sale.Fence != order.Fence):
			check.breaks("order %s was told to take the stock from %d to %d with token %d; the ledger has %d, %d, %d",
				order.ID, sale.Before, sale.After, sale.Fence, order.Before, order.After, order.Fence)
		}
	}
}

// comesWithin is how long after a buyer went away its order may still be written: longer than any fault holds a sale up.
const comesWithin = requestTimeout

// silent are the buyers who were told no order's id. Each can have one order, which is written from when it asks until it cannot come any
// more.
type silent struct {
	next []Sale      // that have not asked yet
	open []time.Time // until when those who have asked can have theirs, the first to end first
}

// has gives one of them an order that was written at that moment, and reports whether there is one left for it. It is asked about one
// order after the other, as they were written.
func (s *silent) has(at time.Time) bool {
	for ; len(s.next) > 0 && !s.next[0].Start.After(at); s.next = s.next[1:] {
		until := s.next[0].End.Add(comesWithin)
		i, _ := slices.BinarySearchFunc(s.open, until, time.Time.Compare)
		s.open = slices.Insert(s.open, i, until)
	}
	for len(s.open) > 0 && s.open[0].Before(at) {
		s.open = s.open[1:]
	}
	if len(s.open) == 0 {
		return false
	}
	s.open = s.open[1:]
	return true
}
