package soak

import (
	"slices"
)

// checkStock compares the stock with the orders, run by run, in every look. A look can come before a run's last sales, so it also
// compares the orders with each other: each leaves one piece less than another one, down from the first stock without a gap.
func (t *timeline) checkStock(check *Check) {
	for _, look := range t.Snapshots {
		check.Checked++
		if look.Sold != look.Orders {
			check.addBroken("run %s says %d sold at %s, and its ledger has %d", look.ID, look.Sold, t.at(look.Received), look.Orders)
		}
		if look.Lost() < 0 {
			check.addBroken("run %s at %s: the stock fell by %d more than was sold", look.ID, t.at(look.Received), -look.Lost())
		}
		if look.Oversold() > 0 {
			check.addBroken("run %s at %s: %d more sold than there was", look.ID, t.at(look.Received), look.Oversold())
		}
	}
	lost := check.countLosses(t)
	for _, run := range t.runs {
		check.Checked++
		left := run.remainingStocks()
		gone, twice := initialStock-left[0], int64(len(run.orders)-len(left))
		if gap := gone - int64(len(left)); gap != 0 && !run.destroyed {
			check.addBroken("run %s: the orders leave out %d of the %d pieces that are gone", run.id, gap, gone)
		}
		switch more := twice - lost[run.id]; {
		case more <= 0:
		case t.allowsLoss(run.first, run.last): // nobody looked at the run after that
			check.Excused += int(more)
		default:
			check.addBroken("run %s: %d orders left what others had left, and no look saw that %d of these updates were lost", run.id, twice, more)
		}
	}
	if len(t.runs) > 1 {
		check.addNote("there were %d runs", len(t.runs))
	}
}

// remainingStocks returns what the orders of a run left in stock, without repetitions, the lowest first.
func (r *run) remainingStocks() []int64 {
	left := make([]int64, len(r.orders))
	for i, order := range r.orders {
		left[i] = order.After
	}
	slices.Sort(left)
	return slices.Compact(left)
}

// countLosses looks when updates were lost, and gives how many were in each run. What no fault allows then is a flaw, whatever others allow at
// other times.
func (c *Check) countLosses(t *timeline) map[string]int64 {
	lost, allowed := map[string]int64{}, int64(0)
	for _, l := range t.losses {
		lost[l.run] += l.updates
		if !t.allowsLoss(l.from, l.to) {
			c.addBroken("run %s: %d updates were lost by %s, and no fault allows that then", l.run, l.updates, t.at(l.to))
			continue
		}
		allowed += l.updates
	}
	if c.Excused += int(allowed); allowed > 0 {
		c.addNote("%d updates were lost when a fault allows it", allowed)
	}
	return lost
}

// checkTokens checks the order of the holders: where each has a fencing token, the stock falls in the order of the tokens, and no two sales
// of a run have the same. One pass over the orders is enough.
func (t *timeline) checkTokens(check *Check) {
	fenced := isFenced(t.Lock)
	for _, run := range t.runs {
		for i, order := range run.orders {
			if order.Fence == 0 {
				if fenced {
					check.addBroken("order %s has no token", order.ID)
				}
				continue
			}
			check.Checked++
			if i > 0 && run.orders[i-1].Fence >= order.Fence {
				check.addBroken("order %s took the stock from %d to %d with token %d, after order %s with token %d",
					order.ID, order.Before, order.After, order.Fence, run.orders[i-1].ID, run.orders[i-1].Fence)
			}
		}
	}
	if check.Checked == 0 {
		check.addNote("%s has no tokens", t.Lock)
	}
}

// checkPredictedLoss checks that a weak lock still has its flaw, and what a whole run cannot have lost.
func (t *timeline) checkPredictedLoss(check *Check) {
	predicted := 0
	for _, fault := range t.aftermaths {
		if !fault.mustLoseUpdate(t.Lock) || fault.Error != "" {
			continue
		}
		predicted++
		check.Checked++
		if fault.Lost <= 0 {
			check.addBroken("%s: nothing was lost", fault.label(t.Record))
		}
	}
	switch lost := t.totalLost(); {
	case isFenced(t.Lock):
		check.Checked++
		if lost > 0 {
			check.addBroken("%d were", lost)
		}
	case predicted == 0:
		check.addNote("no fault of this plan must cost one")
	default:
		check.addNote("%d faults had to; %d updates were lost in all", predicted, lost)
	}
}
