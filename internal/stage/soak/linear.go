package soak

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	partSize    = 1000 // pieces of stock: what was sold of them is judged together
	pictureSize = 30   // changes in a picture
)

// stretch is a part of a run's history, for a picture: the changes that take the stock down from one level to another.
type stretch struct {
	legal   bool
	why     string // it is shown
	first   int64  // the stock at its beginning
	changes []change
}

// stock is what porcupine draws: one number, which a sale must find as it says, and which is then what the sale left; and which readers
// must find, too.
func (s stretch) stock() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return s.first },
		Step: func(state, input, _ any) (bool, any) {
			c := input.(change) // operations makes no others
			return state == c.before, c.after
		},
		DescribeOperation: func(input, _ any) string { return input.(change).says() },
		DescribeState:     func(state any) string { return "stock " + thousands(state.(int64)) },
	}
}

// operations returns the changes for porcupine. Who has no lane of their own gets one that is free.
func (s stretch) operations() (all []porcupine.Operation) {
	for i, lane := range lanes(s.changes) {
		c := s.changes[i]
		all = append(all, porcupine.Operation{ClientId: lane, Input: c, Call: c.called, Return: c.returned})
	}
	return all
}

// misfits returns the changes that fit into no order in which each sale finds what the one before it left, and none comes after one that
// began when it had been answered. As everybody says what they found, and the stock only falls, that can only be the order in which the
// changes are: down the stock. So there is no search.
func misfits(changes []change) (all []int) {
	level, latest := int64(initialStock), int64(math.MinInt64) // when the latest of those before began
	for i, c := range changes {
		if c.before != level || !c.reading && c.after != level-1 || c.returned < latest {
			all = append(all, i)
		}
		level, latest = c.after, max(latest, c.called)
	}
	return all
}

// isLinearizable checks every run, and returns the part that a picture is to show.
func (t *trial) isLinearizable() (check Check, shown stretch) {
	check.Rule = "what the buyers and readers of the stock were told fits into one order (linearizable)"
	histories, left := t.history()
	for _, run := range t.runs {
		changes, judged := histories[run.id], 0
		check.Checked += len(changes)
		for _, i := range misfits(changes) {
			if i < judged {
				continue
			}
			part := partOf(changes[i])
			from, _ := slices.BinarySearchFunc(changes, part, comparePart)
			judged, _ = slices.BinarySearchFunc(changes, part+1, comparePart)
			why := "an update was lost"
			if begin, end := span(changes[from:judged]); t.allowsLoss(t.Began.Add(time.Duration(begin)), t.Began.Add(time.Duration(end))) {
				check.Excused++
			} else {
				check.breaks("run %s, from a stock of %s: no order fits", run.id, thousands(changes[from].before))
				why = "no order fits what these buyers were told"
			}
			if shown.changes == nil {
				shown = around(changes, i)
				shown.why = why
			}
		}
	}
	if check.Excused > 0 {
		check.note("in %d parts no order fits: lost updates, as a fault allows", check.Excused)
	}
	if left > 0 {
		check.note("%d changes at the end of ledgers that were destroyed are not among them", left)
	}
	if shown.changes == nil {
		shown = t.aroundTheWorst(histories)
	}
	return check, shown
}

// partOf returns the number of the part that a change is in.
func partOf(c change) int64 { return (initialStock - c.before) / partSize }

func comparePart(c change, part int64) int { return cmp.Compare(partOf(c), part) }

// around returns the changes of a run around one of them.
func around(changes []change, i int) stretch {
	from := max(0, i-pictureSize/2)
	s := stretch{first: initialStock, changes: changes[from:min(i+pictureSize/2, len(changes))]}
	if from > 0 {
		s.first = changes[from].before
	}
	return s
}

// aroundTheWorst returns a legal part of a history: what was sold around the fault that hit most sales.
func (t *trial) aroundTheWorst(histories map[string][]change) stretch {
	if len(t.faults) > 0 {
		worst := slices.MaxFunc(t.faults, func(a, b Aftermath) int { return a.Hit - b.Hit })
		for _, run := range t.runs {
			changes := histories[run.id]
			i := slices.IndexFunc(changes, func(c change) bool { return !c.doubted && c.returned >= t.nanos(worst.Begin) })
			if i >= 0 {
				s := around(changes, i)
				s.legal, s.why = true, string(worst.Kind)+" at "+t.at(worst.Begin)+", which hit most sales"
				return s
			}
		}
	}
	return stretch{legal: true}
}
