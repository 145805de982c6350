package soak

import (
	"iter"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	windowSize  = 1000             // changes that are checked together
	longest     = 60 * time.Second // for all windows
	pictureSize = 30               // changes in a picture
)

// Window is a part of a run's history: the changes that take the stock down from one level to another.
type Window struct {
	Run     string
	Legal   bool
	Why     string // it is shown
	first   int64  // the stock at its beginning
	changes []change
}

// stock is what is checked: one number, which a sale must find as it says, and which is then what the sale left; and which readers must
// find, too. Somebody must be able to put all of them into one order that fits, in which none comes after one that began when it had
// been answered.
func (w Window) stock() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return w.first },
		Step: func(state, input, _ any) (bool, any) {
			c := input.(change) // operations makes no others
			return state == c.before, c.after
		},
		DescribeOperation: func(input, _ any) string { return input.(change).says() },
		DescribeState:     func(state any) string { return "stock " + thousands(state.(int64)) },
	}
}

// operations gives the window's changes for the checker. Who has no lane of their own gets one that is free.
func (w Window) operations() (all []porcupine.Operation) {
	for i, lane := range lanes(w.changes) {
		c := w.changes[i]
		all = append(all, porcupine.Operation{ClientId: lane, Input: c, Call: c.called, Return: c.returned})
	}
	return all
}

// chained reports whether each sale takes one piece of what the sale before it left, and all of them are different. Where that is not so,
// no order fits, and there is no need to search for one.
func (w Window) chained() bool { return w.breaksAt() < 0 }

// breaksAt gives the first change that does not go on from the one before; less than 0 if there is none.
func (w Window) breaksAt() int {
	level := w.first
	for i, c := range w.changes {
		if c.reading {
			continue
		}
		if c.before != level || c.after != level-1 {
			return i
		}
		level = c.after
	}
	return -1
}

// check searches for an order that fits.
func (w Window) check(patience time.Duration) porcupine.CheckResult {
	switch {
	case !w.chained():
		return porcupine.Illegal
	case patience <= 0:
		return porcupine.Unknown
	default:
		return porcupine.CheckOperationsTimeout(w.stock(), w.operations(), patience)
	}
}

// windows cuts a story into parts, each of which begins with the stock that the one before ends with. A reading is in the part in which
// the stock was what it saw.
func (s story) windows(size int) iter.Seq[Window] {
	return func(yield func(Window) bool) {
		level, rest := int64(initialStock), s.readings
		for from := 0; from < len(s.changes); {
			to := min(from+size, len(s.changes))
			for to < len(s.changes) && s.changes[to].before == s.changes[to-1].before {
				to++
			}
			w := Window{Run: s.run, first: level, changes: slices.Clone(s.changes[from:to])}
			level = s.changes[to-1].after
			until, _ := slices.BinarySearchFunc(rest, level, func(c change, level int64) int { return int(level - c.before) })
			if to == len(s.changes) {
				until = len(rest)
			}
			w.changes = append(w.changes, rest[:until]...)
			if from, rest = to, rest[until:]; !yield(w) {
				return
			}
		}
	}
}

// isLinearizable checks every run, window by window, and that no window comes after one that began when it had been answered. It gives
// the part that a picture is to show.
func isLinearizable(r Record, all index, faults []Aftermath) (Check, Window) {
	check := Check{Rule: "what the buyers and readers of the stock were told fits into one order (linearizable)"}
	until := time.Now().Add(longest)
	stories, left := storiesOf(r, all)
	var shown Window
	for _, story := range stories {
		latest := int64(math.MinInt64) // beginning of a change in an earlier window
		for w := range story.windows(windowSize) {
			check.Checked += len(w.changes)
			result := w.check(time.Until(until))
			if w.answeredBefore(latest) {
				result = porcupine.Illegal
			}
			latest = max(latest, w.latest())
			switch {
			case result == porcupine.Unknown:
				check.unknown("run %s, stock %s and less: no order was found in time", story.run, thousands(w.first))
			case result == porcupine.Ok:
				continue
			case r.allowsLossIn(w):
				check.Excused++
				shown = shown.orWorse(w.narrow("an update was lost"))
			default:
				check.breaks("run %s, from a stock of %s: no order fits", story.run, thousands(w.first))
				shown = shown.orWorse(w.narrow("no order fits what these buyers were told"))
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
		shown = aroundTheWorst(r, stories, faults)
	}
	return check, shown
}

// allowsLossIn reports whether some fault allows that updates were lost while the window was sold.
func (r Record) allowsLossIn(w Window) bool {
	from, to := w.span()
	return r.allowsLoss(r.Began.Add(time.Duration(from)), r.Began.Add(time.Duration(to)))
}

// orWorse keeps the first window that is not legal.
func (w Window) orWorse(other Window) Window {
	if w.changes == nil {
		return other
	}
	return w
}

// answeredBefore reports whether something in the window was answered before a moment.
func (w Window) answeredBefore(moment int64) bool {
	return slices.ContainsFunc(w.changes, func(c change) bool { return c.returned < moment })
}

// latest gives when the last change of the window began.
func (w Window) latest() int64 {
	latest := int64(math.MinInt64)
	for _, c := range w.changes {
		latest = max(latest, c.called)
	}
	return latest
}

// narrow gives a small part of a window in which no order fits, for a picture.
func (w Window) narrow(why string) Window {
	w.Why = why
	if at := w.breaksAt(); at >= 0 {
		return w.part(at-pictureSize/2, at+pictureSize/2)
	}
	for sales := w.sales(); sales > pictureSize; sales = w.sales() {
		first, second := w.part(0, sales/2), w.part(sales/2, sales)
		switch porcupine.Illegal {
		case first.check(time.Second):
			w = first
		case second.check(time.Second):
			w = second
		default:
			return w.part(0, pictureSize) // only the whole does not fit
		}
	}
	return w
}

// sales counts the changes that are no readings; they come first.
func (w Window) sales() int {
	if i := slices.IndexFunc(w.changes, func(c change) bool { return c.reading }); i >= 0 {
		return i
	}
	return len(w.changes)
}

// part gives some of the sales of a window, with the readings that belong to them.
func (w Window) part(from, to int) Window {
	sales := w.changes[max(0, from):min(to, w.sales())]
	part := Window{Run: w.Run, Legal: w.Legal, Why: w.Why, first: w.first, changes: slices.Clone(sales)}
	if from > 0 {
		part.first = sales[0].before
	}
	for _, c := range w.changes[w.sales():] {
		if c.before <= part.first && c.before > sales[len(sales)-1].after {
			part.changes = append(part.changes, c)
		}
	}
	return part
}

// aroundTheWorst gives a legal part of a history: what was sold around the fault that hit most sales.
func aroundTheWorst(r Record, stories []story, faults []Aftermath) Window {
	if len(faults) == 0 || len(stories) == 0 {
		return Window{Legal: true}
	}
	worst := slices.MaxFunc(faults, func(a, b Aftermath) int { return a.Hit - b.Hit })
	begin := r.nanos(worst.Begin)
	for _, story := range stories {
		at := slices.IndexFunc(story.changes, func(c change) bool { return !c.doubted && c.returned >= begin })
		if at < 0 {
			continue
		}
		for w := range story.windows(len(story.changes)) {
			w.Legal, w.Why = true, string(worst.Kind)+" at "+r.at(worst.Begin)+", which hit most sales"
			return w.part(at-pictureSize/2, at+pictureSize/2)
		}
	}
	return Window{Legal: true}
}
