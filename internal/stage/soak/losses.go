package soak

import (
	"slices"
	"time"
)

// loss is updates of a run that were lost between two looks.
type loss struct {
	run      string
	from, to time.Time
	updates  int64
}

// lossesOf returns those of all runs, in the order in which they were seen.
func lossesOf(r Record) (all []loss) {
	most := map[string]int64{} // by run
	var before Look
	for _, look := range r.Looks {
		if more := look.Lost() - most[look.ID]; more > 0 {
			all = append(all, loss{run: look.ID, from: before.Asked, to: look.At, updates: more})
			most[look.ID] = look.Lost()
		}
		before = look
	}
	return all
}

// lost counts the updates whose loss was seen after one moment, and up to another.
func (t *trial) lost(after, until time.Time) (n int64) {
	for _, loss := range t.losses {
		if loss.to.After(after) && !loss.to.After(until) {
			n += loss.updates
		}
	}
	return n
}

// allLost counts the updates that were lost.
func (t *trial) allLost() (n int64) {
	for _, loss := range t.losses {
		n += loss.updates
	}
	return n
}

// oversold counts the sales beyond what there was, of the run with most of them.
func (r Record) oversold() (n int64) {
	for _, look := range r.Looks {
		n = max(n, look.Oversold())
	}
	return n
}

// allowsLoss reports whether some fault allows that updates were lost in that time: it goes on then, or has just ended.
func (r Record) allowsLoss(from, to time.Time) bool {
	return !fenced(r.Lock) && slices.ContainsFunc(r.Faults, func(f Injected) bool {
		return f.opens(r.Lock, r.Expiry) && !to.Before(f.Begin) && !from.After(f.End.Add(backAfter))
	})
}
