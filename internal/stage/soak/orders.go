package soak

import "slices"

func soldHaveOrders(r Record, all index) Check {
	check := Check{Rule: "a sale answered 200 has its one order"}
	for i, sale := range r.Sales {
		if !sale.sold() {
			continue
		}
		check.Checked++
		switch n := all.orders(sale.OrderID); {
		case all.sale[sale.OrderID] != i:
			check.breaks("order %s was told to two buyers, by %s at %s and before or after", sale.OrderID, sale.Replica, r.at(sale.End))
		case n == 1:
		case n > 1:
			check.breaks("order %s is in %d ledgers", sale.OrderID, n)
		case slices.ContainsFunc(r.Faults, func(f Injected) bool { return f.lostIt(sale) }):
			check.Excused++
		default:
			check.breaks("order %s of run %s, answered by %s at %s, is in no ledger", sale.OrderID, sale.RunID, sale.Replica, r.at(sale.End))
		}
	}
	if check.Excused > 0 {
		check.note("%d orders were in no reading of a ledger before it was destroyed", check.Excused)
	}
	return check
}

func refusedHaveNone(r Record, all index) Check {
	check := Check{Rule: "a sale that was refused has no order"}
	for _, sale := range r.Sales {
		if sale.outcome() != notMade {
			continue
		}
		switch {
		case sale.OrderID == "":
			check.unknown("%d %s at %s does not say its order's id", sale.Status, sale.Code, r.at(sale.End))
		case all.orders(sale.OrderID) > 0:
			check.Checked++
			check.breaks("%s was told to order %s at %s, and it is in the ledger", sale.Code, sale.OrderID, r.at(sale.End))
		default:
			check.Checked++
		}
	}
	return check
}

func doubtsAreSettled(r Record, all index) Check {
	check := Check{Rule: "a buyer in doubt finds the order by its id, if there is one"}
	for _, doubt := range r.Doubts {
		there := all.orders(doubt.OrderID) > 0
		switch check.Checked++; {
		case doubt.Error != "":
			check.unknown("order %s: %s", doubt.OrderID, doubt.Error)
		case doubt.Found && !there:
			check.breaks("order %s is found, and is in no ledger", doubt.OrderID)
		case doubt.Found || !there:
		case slices.ContainsFunc(r.Faults, func(f Injected) bool { return f.tookIt(r.Orders[all.order[doubt.OrderID]]) }):
			check.Excused++
		default:
			check.breaks("order %s is in the ledger of run %s, and is not found", doubt.OrderID, r.Orders[all.order[doubt.OrderID]].Run)
		}
	}
	return check
}

// ordersWereAskedFor looks for a buyer of every order: a buyer who was told its id, or one who was told nothing, see silent.
func ordersWereAskedFor(r Record, all index) Check {
	check := Check{Rule: "an order was sold to somebody, or its buyer was left in doubt"}
	silent, inDoubt, foundOut := silentOf(r), 0, 0
	for _, sale := range r.Sales {
		if sale.outcome() == unknown {
			inDoubt++
		}
	}
	for _, order := range sorted(r.Orders, func(a, b *Entry) int { return a.At.Compare(b.At) }) {
		check.Checked++
		switch sale := r.saleOf(all, order.ID); {
		case sale != nil && sale.outcome() == unknown, sale == nil && silent.has(order.At):
			foundOut++
		case sale == nil:
			check.breaks("order %s of run %s, written at %s, is nobody's", order.ID, order.Run, r.at(order.At))
		}
	}
	check.note("%d sales of unknown outcome or without an id; %d of them were made", inDoubt, foundOut)
	return check
}

func ordersAreAsTold(r Record, all index) Check {
	check := Check{Rule: "an order is in the ledger of its run as its buyer was told: run, stock, token"}
	for _, order := range r.Orders {
		check.Checked++
		sale := r.saleOf(all, order.ID)
		known := sale != nil && sale.sold()
		switch {
		case order.RunID != order.Run:
			check.breaks("order %s of run %s is in the ledger of run %s", order.ID, order.RunID, order.Run)
		case known && sale.RunID != order.Run:
			check.breaks("order %s was told to be of run %s, and is in the ledger of run %s", order.ID, sale.RunID, order.Run)
		case known && (sale.Before != order.Before || sale.After != order.After || sale.Fence != order.Fence):
			check.breaks("order %s was told to take the stock from %d to %d with token %d; the ledger has %d, %d, %d",
				order.ID, sale.Before, sale.After, sale.Fence, order.Before, order.After, order.Fence)
		}
	}
	return check
}
