package soak

import (
	"cmp"
	"slices"
	"time"
)

// timeline is a record in order, and what several rules need of it.
type timeline struct {
	Record                          // its sales, orders and looks in the order of their times
	ordersByID  map[string][]*Entry // by their ids; more than one of an id is wrong
	saleByOrder map[string]*Sale    // the sale whose buyer was told of the order with that id
	saleTimes   saleTimes
	outcomes    map[outcome]int // how many sales had each
	runs        []*run          // in their order
	losses      []loss
	aftermaths  []Aftermath
	excerpt     excerpt // what a picture is to show, once isLinearizable has found it
}

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
		if sale.sold() {
			t.saleTimes = append(t.saleTimes, sale.End)
		}
	}
	slices.SortFunc(t.saleTimes, time.Time.Compare)
	t.runs, t.losses = findRuns(r), findLosses(r)
	t.aftermaths = t.findAftermaths()
	return t
}

// longestSale is what a sale with a key can take: its last repeat is sent one timeout after the first answer.
const longestSale = 3*requestTimeout + time.Second

// salesDuring returns the sales that may have been going on in a time: none takes longer than longestSale.
func (t *timeline) salesDuring(from, to time.Time) []Sale {
	byStart := func(s Sale, t time.Time) int { return s.Start.Compare(t) }
	first, _ := slices.BinarySearchFunc(t.Sales, from.Add(-longestSale), byStart)
	end, _ := slices.BinarySearchFunc(t.Sales, to.Add(1), byStart)
	return t.Sales[first:max(first, end)]
}

// run is what a record says of one run.
type run struct {
	id        string
	destroyed bool      // its ledger, by a fault that began during it
	first     time.Time // when its first order was written
	last      time.Time // when its last one was
	orders    []*Entry  // down from the first stock, and by their tokens where several found the same
}

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

// loss is updates of a run that were lost between two looks.
type loss struct {
	run      string
	from, to time.Time
	updates  int64
}

// findLosses returns those of all runs, in the order in which they were seen.
func findLosses(r Record) (all []loss) {
	most := map[string]int64{} // by run
	var before Snapshot
	for _, look := range r.Snapshots {
		if more := look.Lost() - most[look.ID]; more > 0 {
			all = append(all, loss{run: look.ID, from: before.Requested, to: look.Received, updates: more})
			most[look.ID] = look.Lost()
		}
		before = look
	}
	return all
}

// lostBetween counts the updates whose loss was seen after one moment, and up to another.
func (t *timeline) lostBetween(after, until time.Time) (n int64) {
	for _, loss := range t.losses {
		if loss.to.After(after) && !loss.to.After(until) {
			n += loss.updates
		}
	}
	return n
}

func (t *timeline) totalLost() (n int64) {
	for _, loss := range t.losses {
		n += loss.updates
	}
	return n
}

// maxOversold counts the sales beyond what there was, of the run with most of them.
func (r Record) maxOversold() (n int64) {
	for _, look := range r.Snapshots {
		n = max(n, look.Oversold())
	}
	return n
}

// allowsLoss reports whether some fault allows that updates were lost in that time: it goes on then, or has just ended.
func (r Record) allowsLoss(from, to time.Time) bool {
	return !isFenced(r.Lock) && slices.ContainsFunc(r.Faults, func(f Injected) bool {
		return f.mayLoseUpdate(r.Lock) && !to.Before(f.Begin) && !from.After(f.End.Add(maxRecovery))
	})
}
