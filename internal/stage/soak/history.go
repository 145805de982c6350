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
	reading       bool
	doubted       bool
	replica       string
	fence         int64
}

// history returns all changes of each run, down from the first stock; what a reader saw comes before the sale that found the same. The last
// part of a run whose ledger was destroyed is left out, as is said by the second value: nobody knows what became of the sales in doubt.
func (t *trial) history() (byRun map[string][]change, left int) {
	byRun = map[string][]change{}
	for _, sale := range t.Sales {
		if sale.sold() {
			byRun[sale.RunID] = append(byRun[sale.RunID], change{
				before: sale.Before, after: sale.After, called: t.nanos(sale.Start), returned: t.nanos(sale.End),
				replica: sale.Replica, fence: sale.Fence,
			})
		}
	}
	for _, order := range t.Orders {
		sale := t.told[order.ID]
		if sale != nil && sale.sold() && (!sale.Keyed || sale.RunID == order.Run) {
			continue
		}
		found := change{
			before: order.Before, after: order.After, called: math.MinInt64, returned: math.MaxInt64,
			doubted: true, replica: order.Replica, fence: order.Fence,
		}
		if sale != nil {
			found.called = t.nanos(sale.Start)
		}
		byRun[order.Run] = append(byRun[order.Run], found)
	}
	for _, look := range t.Looks {
		byRun[look.ID] = append(byRun[look.ID], change{
			before: look.Remaining, after: look.Remaining, called: t.nanos(look.Asked), returned: t.nanos(look.At), reading: true,
		})
	}
	for _, run := range t.runs {
		if changes := byRun[run.id]; run.destroyed() {
			level := t.lastSeen(run.id)
			byRun[run.id] = slices.DeleteFunc(changes, func(c change) bool { return c.before <= level })
			left += len(changes) - len(byRun[run.id])
		}
		slices.SortFunc(byRun[run.id], func(a, b change) int {
			return cmp.Or(cmp.Compare(b.before, a.before), cmp.Compare(b.after, a.after), cmp.Compare(a.called, b.called))
		})
	}
	return byRun, left
}

func (r Record) nanos(t time.Time) int64 { return t.Sub(r.Began).Nanoseconds() }

// lastSeen returns the stock of a run in the last look before a ledger was destroyed.
func (r Record) lastSeen(run string) int64 {
	lowest := int64(initialStock)
	for _, look := range r.Looks {
		before := slices.ContainsFunc(r.Faults, func(f Injected) bool { return f.Kind.isDestructive() && !look.At.After(f.Begin) })
		if before && look.ID == run {
			lowest = min(lowest, look.Remaining)
		}
	}
	return lowest
}
