package soak

import (
	"cmp"
	"math"
	"slices"
	"time"
)

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
		if c.before != level || !c.reading && c.after != level-1 || c.returned < latest {
			all = append(all, i)
		}
		level, latest = c.after, max(latest, c.called)
	}
	return all
}

// isLinearizable checks every run, and finds the part that a picture is to show.
func (t *trial) isLinearizable(check *Check) {
	histories, left := t.history()
	for _, run := range t.runs {
		changes, judged := histories[run.id], 0
		check.Checked += len(changes)
		for _, i := range unlinearizable(changes) {
			if i < judged {
				continue
			}
			part := partOf(changes[i])
			from, _ := slices.BinarySearchFunc(changes, part, comparePart)
			judged, _ = slices.BinarySearchFunc(changes, part+1, comparePart)
			why := "an update was lost"
			begin, end := span(changes[from:judged])
			if t.allowsLoss(t.Began.Add(time.Duration(begin)), t.Began.Add(time.Duration(end))) {
				check.Excused++
			} else {
				check.breaks("run %s, from a stock of %s: no order fits", run.id, thousands(changes[from].before))
				why = "no order fits what these buyers were told"
			}
			if t.shown.changes == nil {
				t.shown = around(changes, i, "A part of the history that does not fit into one order: "+why)
			}
		}
	}
	if check.Excused > 0 {
		check.note("in %d parts no order fits: lost updates, as a fault allows", check.Excused)
	}
	if left > 0 {
		check.note("%d changes at the end of ledgers that were destroyed are not among them", left)
	}
	if t.shown.changes == nil {
		t.shown = t.worstStretch(histories)
	}
}

// partOf returns the number of the part that a change is in.
func partOf(c change) int64 { return (initialStock - c.before) / partSize }

func comparePart(c change, part int64) int { return cmp.Compare(partOf(c), part) }

// around returns the changes of a run around one of them.
func around(changes []change, i int, title string) stretch {
	from := max(0, i-pictureSize/2)
	s := stretch{title: title, first: initialStock, changes: changes[from:min(i+pictureSize/2, len(changes))]}
	if from > 0 {
		s.first = changes[from].before
	}
	return s
}

// worstStretch returns a legal part of a history: what was sold around the fault that hit most sales.
func (t *trial) worstStretch(histories map[string][]change) stretch {
	title := "A part of the history that fits into one order: "
	if len(t.faults) > 0 {
		worst := slices.MaxFunc(t.faults, func(a, b Aftermath) int { return a.Hit - b.Hit })
		for _, run := range t.runs {
			changes := histories[run.id]
			i := slices.IndexFunc(changes, func(c change) bool { return !c.doubted && c.returned >= t.nanos(worst.Begin) })
			if i >= 0 {
				return around(changes, i, title+worst.label(t.Record)+", which hit most sales")
			}
		}
	}
	return stretch{title: title}
}
