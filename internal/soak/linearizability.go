package soak

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// operation is an operation on the stock of a run: a sale or a read. A sale is described by its answer or, without an answer, by its order
// in the ledger. Times are in nanoseconds since the session began.
type operation struct {
	before, after int64  // stock before and after; the same for a read
	call          int64  // time of the request; math.MinInt64: unknown
	response      int64  // time of the answer; math.MaxInt64: none, so the sale may have taken effect at any time since call
	isRead        bool   // true: a read; false: a sale
	inDoubt       bool   // a sale of unknown outcome whose order is in the ledger
	replica       string // replica that made the sale
	fence         int64  // fencing token; 0: none
}

// operationsByRun returns the operations of each run in the only order that can be legal: by the stock that they found, highest first, and
// reads before the sale that found the same stock. If a ledger was destroyed, nothing shows which sales of unknown outcome were made since
// the last snapshot. So the operations since that snapshot are left out; omitted is their number.
func (t *timeline) operationsByRun() (byRun map[string][]operation, omitted int) {
	byRun = map[string][]operation{}
	for _, sale := range t.Sales {
		if sale.isSold() {
			byRun[sale.RunID] = append(byRun[sale.RunID], operation{
				before: sale.Before, after: sale.After, call: t.sinceBegan(sale.Start), response: t.sinceBegan(sale.End),
				replica: sale.Replica, fence: sale.Fence,
			})
		}
	}
	for _, order := range t.Orders {
		sale := t.saleByOrder[order.ID]
		if sale != nil && sale.isSold() && (!sale.HasKey || sale.RunID == order.Run) {
			continue
		}
		found := operation{
			before: order.Before, after: order.After, call: math.MinInt64, response: math.MaxInt64,
			inDoubt: true, replica: order.Replica, fence: order.Fence,
		}
		if sale != nil {
			found.call = t.sinceBegan(sale.Start)
		}
		byRun[order.Run] = append(byRun[order.Run], found)
	}
	for _, snapshot := range t.Snapshots {
		byRun[snapshot.ID] = append(byRun[snapshot.ID], operation{
			before: snapshot.Remaining, after: snapshot.Remaining, isRead: true,
			call: t.sinceBegan(snapshot.Requested), response: t.sinceBegan(snapshot.Received),
		})
	}
	for _, run := range t.runs {
		if operations := byRun[run.id]; run.destroyed {
			level := t.lastKnownStock(run.id)
			byRun[run.id] = slices.DeleteFunc(operations, func(o operation) bool { return o.before <= level })
			omitted += len(operations) - len(byRun[run.id])
		}
		slices.SortFunc(byRun[run.id], func(a, b operation) int {
			return cmp.Or(cmp.Compare(b.before, a.before), cmp.Compare(b.after, a.after), cmp.Compare(a.call, b.call))
		})
	}
	return byRun, omitted
}

// sinceBegan returns a time in nanoseconds since the session began.
func (r Record) sinceBegan(t time.Time) int64 { return t.Sub(r.Began).Nanoseconds() }

// lastKnownStock returns the stock of a run in its last snapshot before a fault that destroyed ledgers; initialStock if there is none.
func (r Record) lastKnownStock(run string) int64 {
	lowest := int64(initialStock)
	for _, snapshot := range r.Snapshots {
		wasDestroyedLater := slices.ContainsFunc(r.Faults, func(f Injected) bool {
			return f.Kind.effect().destroysLedgers && !snapshot.Received.After(f.Begin)
		})
		if wasDestroyedLater && snapshot.ID == run {
			lowest = min(lowest, snapshot.Remaining)
		}
	}
	return lowest
}

const (
	partSize    = 1000 // pieces of stock whose sales are judged together, so that one lost update counts once
	excerptSize = 30   // number of operations in a picture: more would be unreadable
)

// unlinearizable returns the indexes of the operations that do not fit into a legal order. An operation must find the stock that the
// previous one left, and must not be answered before an earlier one in the order was requested. The stock only falls, and each operation
// has the stock that it found. So only the order of operationsByRun can be legal, and no search is needed.
func unlinearizable(operations []operation) (all []int) {
	stock, latestCall := int64(initialStock), int64(math.MinInt64)
	for i, o := range operations {
		if o.before != stock || !o.isRead && o.after != stock-1 || o.response < latestCall {
			all = append(all, i)
		}
		stock, latestCall = o.after, max(latestCall, o.call)
	}
	return all
}

// checkLinearizable checks that the history of each run is linearizable, and chooses the excerpt for the picture.
func (t *timeline) checkLinearizable(check *Check) {
	histories, omitted := t.operationsByRun()
	for _, run := range t.runs {
		operations, judged := histories[run.id], 0 // judged: number of operations, from the first, in parts that have been judged
		check.Checked += len(operations)
		for _, i := range unlinearizable(operations) {
			if i < judged {
				continue
			}
			part := partIndex(operations[i])
			from, _ := slices.BinarySearchFunc(operations, part, comparePart)
			judged, _ = slices.BinarySearchFunc(operations, part+1, comparePart)
			reason := "an update was lost"
			begin, end := timeSpan(operations[from:judged])
			if t.allowsLoss(t.Began.Add(time.Duration(begin)), t.Began.Add(time.Duration(end))) {
				check.Excused++
			} else {
				check.addBroken("run %s, from a stock of %s: not linearizable", run.id, thousands(operations[from].before))
				reason = "these answers contradict each other"
			}
			if t.excerpt.operations == nil {
				t.excerpt = excerptAround(operations, i, "An excerpt of the history that is not linearizable: "+reason)
			}
		}
	}
	if check.Excused > 0 {
		check.addNote("%d parts are not linearizable, because of lost updates that a fault explains", check.Excused)
	}
	if omitted > 0 {
		check.addNote("%d operations at the end of destroyed ledgers are left out", omitted)
	}
	if t.excerpt.operations == nil {
		t.excerpt = t.excerptOfWorstFault(histories)
	}
}

// partIndex returns the 0-based index of the part to which an operation belongs.
func partIndex(o operation) int64 { return (initialStock - o.before) / partSize }

// comparePart compares the part of an operation with a part.
func comparePart(o operation, part int64) int { return cmp.Compare(partIndex(o), part) }

// excerptAround returns about excerptSize operations of a run, with the i-th in the middle.
func excerptAround(operations []operation, i int, title string) excerpt {
	from := max(0, i-excerptSize/2)
	e := excerpt{title: title, firstStock: initialStock, operations: operations[from:min(i+excerptSize/2, len(operations))]}
	if from > 0 {
		e.firstStock = operations[from].before
	}
	return e
}

// excerptOfWorstFault returns an excerpt of a linearizable history: the operations around the fault that hit the most sales.
func (t *timeline) excerptOfWorstFault(histories map[string][]operation) excerpt {
	title := "An excerpt of the history, which is linearizable: "
	if len(t.aftermaths) > 0 {
		worst := slices.MaxFunc(t.aftermaths, func(a, b Aftermath) int { return a.SalesHit - b.SalesHit })
		for _, run := range t.runs {
			operations := histories[run.id]
			i := slices.IndexFunc(operations, func(o operation) bool { return !o.inDoubt && o.response >= t.sinceBegan(worst.Begin) })
			if i >= 0 {
				return excerptAround(operations, i, title+worst.label(t.Record)+", which hit most sales")
			}
		}
	}
	return excerpt{title: title}
}
