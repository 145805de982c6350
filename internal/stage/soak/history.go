package soak

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// change is what a sale did to the stock of a run, as its buyer or else the ledger says; or what a reader saw. Times are nanoseconds since
// the session began.
type change struct {
	before, after int64
	called        int64
	returned      int64 // for ever, if the buyer was left in doubt: it may have come at any time since
	buyer         int   // nobody: its buyer is not known
	reading       bool
	doubted       bool
	id, replica   string
	fence         int64
}

const nobody = -1

// story is all changes of one run, down from the first stock.
type story struct {
	run      string
	changes  []change // by what they found in stock
	readings []change // the same
}

// storiesOf gives the stories of all runs. The last part of a run whose ledger was destroyed is left out, as is said by the second value:
// nobody knows what became of the sales in doubt.
func storiesOf(r Record, all index) (stories []story, left int) {
	byRun := map[string]*story{}
	of := func(run string) *story {
		if byRun[run] == nil {
			byRun[run] = &story{run: run}
		}
		return byRun[run]
	}
	for _, sale := range r.Sales {
		if sale.sold() {
			story := of(sale.RunID)
			story.changes = append(story.changes, r.told(sale))
		}
	}
	for _, order := range r.Orders {
		if sale := r.saleOf(all, order.ID); sale == nil || !sale.sold() {
			story := of(order.Run)
			story.changes = append(story.changes, r.foundOut(order, sale))
		}
	}
	for _, look := range r.Looks {
		story := of(look.ID)
		story.readings = append(story.readings, change{
			before: look.Remaining, after: look.Remaining, called: r.nanos(look.Asked), returned: r.nanos(look.At), reading: true, buyer: nobody,
		})
	}
	runs := runsOf(r)
	for i, run := range runs {
		story := of(run.id)
		if r.destroyed(runs, i) {
			left += story.leaveOut(r.lastSeen(run.id))
		}
		byBefore := func(a, b change) int { return cmp.Or(cmp.Compare(b.before, a.before), cmp.Compare(a.called, b.called)) }
		slices.SortFunc(story.changes, byBefore)
		slices.SortFunc(story.readings, byBefore)
		stories = append(stories, *story)
	}
	return stories, left
}

func (r Record) nanos(t time.Time) int64 { return t.Sub(r.Began).Nanoseconds() }

// told gives what a buyer was told.
func (r Record) told(s Sale) change {
	return change{
		before: s.Before, after: s.After, called: r.nanos(s.Start), returned: r.nanos(s.End),
		buyer: s.Buyer, id: s.OrderID, replica: s.Replica, fence: s.Fence,
	}
}

// foundOut gives an order that was sold without an answer that says so; sale is nil if its buyer was not even told its id.
func (r Record) foundOut(order Entry, sale *Sale) change {
	found := change{
		before: order.Before, after: order.After, called: math.MinInt64, returned: math.MaxInt64,
		buyer: nobody, doubted: true, id: order.ID, replica: order.Replica, fence: order.Fence,
	}
	if sale != nil {
		found.called, found.buyer = r.nanos(sale.Start), sale.Buyer
	}
	return found
}

// lastSeen gives the stock of a run in the last look before a ledger was destroyed.
func (r Record) lastSeen(run string) int64 {
	lowest := int64(initialStock)
	for _, look := range r.Looks {
		before := slices.ContainsFunc(r.Faults, func(f Injected) bool { return f.Kind.destroys() && !look.At.After(f.Begin) })
		if before && look.ID == run {
			lowest = min(lowest, look.Remaining)
		}
	}
	return lowest
}

// leaveOut drops what came after the stock fell to that level.
func (s *story) leaveOut(level int64) (n int) {
	n = len(s.changes) + len(s.readings)
	s.changes = slices.DeleteFunc(s.changes, func(c change) bool { return c.before <= level })
	s.readings = slices.DeleteFunc(s.readings, func(c change) bool { return c.before <= level })
	return n - len(s.changes) - len(s.readings)
}
