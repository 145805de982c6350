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
	call          int64
	response      int64 // for ever, if the buyer was left in doubt: it may have come at any time since
	isRead        bool
	inDoubt       bool
	replica       string
	fence         int64
}

// changesByRun returns all changes of each run, down from the first stock; what a reader saw comes before the sale that found the same. The last
// part of a run whose ledger was destroyed is left out, as is said by the second value: nobody knows what became of the sales in doubt.
func (t *timeline) changesByRun() (byRun map[string][]change, left int) {
	byRun = map[string][]change{}
	for _, sale := range t.Sales {
		if sale.sold() {
			byRun[sale.RunID] = append(byRun[sale.RunID], change{
				before: sale.Before, after: sale.After, call: t.sinceBegan(sale.Start), response: t.sinceBegan(sale.End),
				replica: sale.Replica, fence: sale.Fence,
			})
		}
	}
	for _, order := range t.Orders {
		sale := t.saleByOrder[order.ID]
		if sale != nil && sale.sold() && (!sale.HasKey || sale.RunID == order.Run) {
			continue
		}
		found := change{
			before: order.Before, after: order.After, call: math.MinInt64, response: math.MaxInt64,
			inDoubt: true, replica: order.Replica, fence: order.Fence,
		}
		if sale != nil {
			found.call = t.sinceBegan(sale.Start)
		}
		byRun[order.Run] = append(byRun[order.Run], found)
	}
	for _, look := range t.Snapshots {
		byRun[look.ID] = append(byRun[look.ID], change{
			before: look.Remaining, after: look.Remaining, call: t.sinceBegan(look.Requested), response: t.sinceBegan(look.Received), isRead: true,
		})
	}
	for _, run := range t.runs {
		if changes := byRun[run.id]; run.destroyed {
			level := t.lastKnownStock(run.id)
			byRun[run.id] = slices.DeleteFunc(changes, func(c change) bool { return c.before <= level })
			left += len(changes) - len(byRun[run.id])
		}
		slices.SortFunc(byRun[run.id], func(a, b change) int {
			return cmp.Or(cmp.Compare(b.before, a.before), cmp.Compare(b.after, a.after), cmp.Compare(a.call, b.call))
		})
	}
	return byRun, left
}

func (r Record) sinceBegan(t time.Time) int64 { return t.Sub(r.Began).Nanoseconds() }

// lastKnownStock returns the stock of a run in the last look before a ledger was destroyed.
func (r Record) lastKnownStock(run string) int64 {
	lowest := int64(initialStock)
	for _, look := range r.Snapshots {
		before := slices.ContainsFunc(r.Faults, func(f Injected) bool { return f.Kind.effect().destroysLedgers && !look.Received.After(f.Begin) })
		if before && look.ID == run {
			lowest = min(lowest, look.Remaining)
		}
	}
	return lowest
}

const (
	partSize    = 1000 // pieces of stock: what was sold of them is judged together
	pictureSize = 30   // changes in a picture
)

// unlinearizable returns the changes that fit into no order in which each sale finds what the one before it left, and none comes after one
// that began when it had been answered. As everybody says what they found, and the stock only falls, that can only be the order in which
// the changes are: down the stock. So there is no search.
func unlinearizable(changes []change) (all []int) {
	level, latest := int64(initialStock), int64(math.MinInt64) // when the latest of those before began
	for i, c := range changes {
		if c.before != level || !c.isRead && c.after != level-1 || c.response < latest {
			all = append(all, i)
		}
		level, latest = c.after, max(latest, c.call)
	}
	return all
}

// checkLinearizable checks every run, and finds the part that a picture is to show.
func (t *timeline) checkLinearizable(check *Check) {
	histories, left := t.changesByRun()
	for _, run := range t.runs {
		changes, judged := histories[run.id], 0
		check.Checked += len(changes)
		for _, i := range unlinearizable(changes) {
			if i < judged {
				continue
			}
			part := partIndex(changes[i])
			from, _ := slices.BinarySearchFunc(changes, part, comparePart)
			judged, _ = slices.BinarySearchFunc(changes, part+1, comparePart)
			why := "an update was lost"
			begin, end := timeSpan(changes[from:judged])
			if t.allowsLoss(t.Began.Add(time.Duration(begin)), t.Began.Add(time.Duration(end))) {
				check.Excused++
			} else {
				check.addBroken("run %s, from a stock of %s: no order fits", run.id, thousands(changes[from].before))
				why = "no order fits what these buyers were told"
			}
			if t.excerpt.changes == nil {
				t.excerpt = excerptAround(changes, i, "A part of the history that does not fit into one order: "+why)
			}
		}
	}
	if check.Excused > 0 {
		check.addNote("in %d parts no order fits: lost updates, as a fault allows", check.Excused)
	}
	if left > 0 {
		check.addNote("%d changes at the end of ledgers that were destroyed are not among them", left)
	}
	if t.excerpt.changes == nil {
		t.excerpt = t.excerptOfWorstFault(histories)
	}
}

func partIndex(c change) int64 { return (initialStock - c.before) / partSize }

func comparePart(c change, part int64) int { return cmp.Compare(partIndex(c), part) }

// excerptAround returns the changes of a run around one of them.
func excerptAround(changes []change, i int, title string) excerpt {
	from := max(0, i-pictureSize/2)
	s := excerpt{title: title, firstStock: initialStock, changes: changes[from:min(i+pictureSize/2, len(changes))]}
	if from > 0 {
		s.firstStock = changes[from].before
	}
	return s
}

// excerptOfWorstFault returns a legal part of a history: what was sold around the fault that hit most sales.
func (t *timeline) excerptOfWorstFault(histories map[string][]change) excerpt {
	title := "A part of the history that fits into one order: "
	if len(t.aftermaths) > 0 {
		worst := slices.MaxFunc(t.aftermaths, func(a, b Aftermath) int { return a.Hit - b.Hit })
		for _, run := range t.runs {
			changes := histories[run.id]
			i := slices.IndexFunc(changes, func(c change) bool { return !c.inDoubt && c.response >= t.sinceBegan(worst.Begin) })
			if i >= 0 {
				return excerptAround(changes, i, title+worst.label(t.Record)+", which hit most sales")
			}
		}
	}
	return excerpt{title: title}
}
