package soak

import (
	"cmp"
	"slices"
	"time"
)

// timeline is a record sorted by time, with indexes and summaries that several rules need.
type timeline struct {
	Record                          // sales sorted by their starts, orders and snapshots by their times
	ordersByID  map[string][]*Entry // order id → its entries; a correct record has one
	saleByOrder map[string]*Sale    // order id → the sale whose answer names the order
	saleTimes   saleTimes           // times of the answers to sales that were made
	outcomes    map[outcome]int     // number of sales with each outcome
	runs        []*run              // runs in the order of their first orders
	losses      []loss              // lost updates, by the snapshots between which they were lost
	aftermaths  []Aftermath         // aftermaths of the faults, in their order
	excerpt     excerpt             // part of the history for the picture, chosen by checkLinearizable
}

// newTimeline returns the timeline of r, which it sorts in place.
func newTimeline(r Record) *timeline {
	slices.SortFunc(r.Sales, func(a, b Sale) int { return a.Start.Compare(b.Start) })
	slices.SortFunc(r.Orders, func(a, b Entry) int { return a.At.Compare(b.At) })
	slices.SortFunc(r.Snapshots, func(a, b Snapshot) int { return a.Received.Compare(b.Received) })
	t := &timeline{
		Record: r, outcomes: map[outcome]int{},
		ordersByID: make(map[string][]*Entry, len(r.Orders)), saleByOrder: make(map[string]*Sale, len(r.Sales)),
	}
	for i := range r.Orders {
		order := &r.Orders[i]
		t.ordersByID[order.ID] = append(t.ordersByID[order.ID], order)
	}
	for i := range r.Sales {
		sale := &r.Sales[i]
		t.outcomes[sale.outcome()]++
		if sale.OrderID != "" {
			t.saleByOrder[sale.OrderID] = sale
		}
		if sale.isSold() {
			t.saleTimes = append(t.saleTimes, sale.End)
		}
	}
	slices.SortFunc(t.saleTimes, time.Time.Compare)
	t.runs, t.losses = findRuns(r), findLosses(r)
	t.aftermaths = t.findAftermaths()
	return t
}

// longestSale is the longest time that a sale with a key can take: one timeout until the first answer, one during which the request is
// repeated, and one until the answer to the last repeat.
const longestSale = 3*requestTimeout + time.Second

// salesDuring returns the sales that began at or before to, and that may have ended after from: they began at most longestSale before from.
func (t *timeline) salesDuring(from, to time.Time) []Sale {
	byStart := func(s Sale, t time.Time) int { return s.Start.Compare(t) }
	first, _ := slices.BinarySearchFunc(t.Sales, from.Add(-longestSale), byStart)
	end, _ := slices.BinarySearchFunc(t.Sales, to.Add(1), byStart)
	return t.Sales[first:max(first, end)]
}

// run is a run with the orders of its ledger.
type run struct {
	id        string    // id of the run
	destroyed bool      // a fault that began during the run destroyed its ledger
	first     time.Time // time of its first order
	last      time.Time // time of its last order
	orders    []*Entry  // sorted by the stock that they found, highest first, and then by their tokens
}

// findRuns returns the runs in a record whose orders are sorted by time.
func findRuns(r Record) (runs []*run) {
	byID := map[string]*run{}
	for i := range r.Orders {
		order := &r.Orders[i]
		if byID[order.Run] == nil {
			byID[order.Run] = &run{id: order.Run, first: order.At}
			runs = append(runs, byID[order.Run])
		}
		run := byID[order.Run]
		run.last, run.orders = order.At, append(run.orders, order)
	}
	for i, run := range runs {
		slices.SortFunc(run.orders, func(a, b *Entry) int {
			return cmp.Or(cmp.Compare(b.Before, a.Before), cmp.Compare(a.Fence, b.Fence))
		})
		for _, fault := range r.Faults {
			during := (i == 0 || !fault.Begin.Before(run.first)) && (i+1 == len(runs) || fault.Begin.Before(runs[i+1].first))
			run.destroyed = run.destroyed || during && fault.Kind.effect().destroysLedgers
		}
	}
	return runs
}

// loss is a number of updates that were lost between two snapshots.
type loss struct {
	run      string    // id of the run
	from, to time.Time // request for the earlier snapshot, and receipt of the later one
	updates  int64     // number of lost updates
}

// findLosses returns the losses in all runs, by the times of the snapshots that show them.
func findLosses(r Record) (all []loss) {
	lostByRun := map[string]int64{}
	var previous Snapshot
	for _, snapshot := range r.Snapshots {
		if more := snapshot.Lost() - lostByRun[snapshot.ID]; more > 0 {
			all = append(all, loss{run: snapshot.ID, from: previous.Requested, to: snapshot.Received, updates: more})
			lostByRun[snapshot.ID] = snapshot.Lost()
		}
		previous = snapshot
	}
	return all
}

// lostBetween returns the number of lost updates that a snapshot received after one time, but not after the other, was the first to show.
func (t *timeline) lostBetween(after, until time.Time) (n int64) {
	for _, loss := range t.losses {
		if loss.to.After(after) && !loss.to.After(until) {
			n += loss.updates
		}
	}
	return n
}

// totalLost returns the number of lost updates in all runs.
func (t *timeline) totalLost() (n int64) {
	for _, loss := range t.losses {
		n += loss.updates
	}
	return n
}

// maxOversold returns the largest number of pieces that any run oversold.
func (r Record) maxOversold() (n int64) {
	for _, snapshot := range r.Snapshots {
		n = max(n, snapshot.Oversold())
	}
	return n
}

// allowsLoss reports whether a fault explains updates lost in a period: the fault overlaps the period, or ended at most maxRecovery before.
func (r Record) allowsLoss(from, to time.Time) bool {
	return !isFenced(r.Lock) && slices.ContainsFunc(r.Faults, func(f Injected) bool {
		return f.mayLoseUpdate(r.Lock) && !to.Before(f.Begin) && !from.After(f.End.Add(maxRecovery))
	})
}
