package soak

import (
	"slices"
)

// checkStock compares the stock with the orders in every snapshot. The last snapshot of a run can be older than its last sales. So
// checkStock also compares the orders with each other: the stocks that they left must fall from the initial stock in steps of one.
func (t *timeline) checkStock(check *Check) {
	for _, snapshot := range t.Snapshots {
		check.Checked++
		read := t.offsetText(snapshot.Received)
		if snapshot.Sold != snapshot.Orders {
			check.addBroken("run %s at %s: its ledger has %d orders, but it counted %d", snapshot.ID, read, snapshot.Orders, snapshot.Sold)
		}
		if snapshot.Lost() < 0 {
			check.addBroken("run %s at %s: the stock fell by %d more than was sold", snapshot.ID, read, -snapshot.Lost())
		}
		if snapshot.Oversold() > 0 {
			check.addBroken("run %s at %s: oversold by %d", snapshot.ID, read, snapshot.Oversold())
		}
	}
	lost := t.countLosses(check)
	for _, run := range t.runs {
		check.Checked++
		left := run.remainingStocks()
		fall, repeated := initialStock-left[0], int64(len(run.orders)-len(left))
		if gap := fall - int64(len(left)); gap != 0 && !run.destroyed {
			check.addBroken("run %s: the stock fell by %d, but no order accounts for %d of these pieces", run.id, fall, gap)
		}
		unseen := repeated - lost[run.id]
		switch {
		case unseen <= 0:
		case t.allowsLoss(run.first, run.last): // updates lost after the last snapshot of the run
			check.Excused += int(unseen)
		default:
			check.addBroken("run %s: %d orders left the same stock as others, and no snapshot shows that %d of these updates were lost",
				run.id, repeated, unseen)
		}
	}
	if len(t.runs) > 1 {
		check.addNote("there were %d runs", len(t.runs))
	}
}

// remainingStocks returns the stocks that the orders of a run left, sorted and without repetitions.
func (r *run) remainingStocks() []int64 {
	left := make([]int64, len(r.orders))
	for i, order := range r.orders {
		left[i] = order.After
	}
	slices.Sort(left)
	return slices.Compact(left)
}

// countLosses returns the number of updates lost in each run. It adds losses to the check: as broken cases if no fault at the time explains
// them, and otherwise as excused cases.
func (t *timeline) countLosses(check *Check) map[string]int64 {
	lostByRun, excused := map[string]int64{}, int64(0)
	for _, loss := range t.losses {
		lostByRun[loss.run] += loss.updates
		if t.allowsLoss(loss.from, loss.to) {
			excused += loss.updates
			continue
		}
		check.addBroken("run %s: %d updates had been lost by %s, and no fault then explains it", loss.run, loss.updates, t.offsetText(loss.to))
	}
	check.Excused += int(excused)
	if excused > 0 {
		check.addNote("%d updates were lost at the time of faults that explain it", excused)
	}
	return lostByRun
}

// checkTokens checks that the stock falls in the order of the fencing tokens, and that no two sales of a run have the same token.
func (t *timeline) checkTokens(check *Check) {
	fenced := isFenced(t.Lock)
	for _, run := range t.runs {
		for i, order := range run.orders {
			if order.Fence == 0 {
				if fenced {
					check.addBroken("order %s has no fencing token", order.ID)
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
		check.addNote("%s has no fencing tokens", t.Lock)
	}
}

// checkPredictedLoss checks that a fenced lock did not lose an update, and that a weaker lock lost an update through each fault that must
// lose one.
func (t *timeline) checkPredictedLoss(check *Check) {
	predicted := 0
	for _, fault := range t.aftermaths {
		if !fault.mustLoseUpdate(t.Lock) || fault.Error != "" {
			continue
		}
		predicted++
		check.Checked++
		if fault.Lost <= 0 {
			check.addBroken("%s: no update was lost", fault.label(t.Record))
		}
	}
	lost := t.totalLost()
	switch {
	case isFenced(t.Lock):
		check.Checked++
		if lost > 0 {
			check.addBroken("%d updates were lost", lost)
		}
	case predicted == 0:
		check.addNote("this plan has no fault that must cost an update")
	default:
		check.addNote("%d faults that must cost an update; %d updates lost in all", predicted, lost)
	}
}
