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

// losses gives those of all runs, in the order in which they were seen.
func (r Record) losses() (all []loss) {
	most := map[string]int64{} // by run
	var before Look
	for _, look := range sorted(r.Looks, func(a, b *Look) int { return a.At.Compare(b.At) }) {
		if more := look.Lost() - most[look.ID]; more > 0 {
			all = append(all, loss{run: look.ID, from: before.Asked, to: look.At, updates: more})
			most[look.ID] = look.Lost()
		}
		before = *look
	}
	return all
}

// allowsLoss reports whether some fault allows that updates were lost in that time: it goes on then, or has just ended.
func (r Record) allowsLoss(from, to time.Time) bool {
	return !fenced(r.Lock) && slices.ContainsFunc(r.Faults, func(f Injected) bool {
		return f.opens(r.Lock, r.Expiry) && !to.Before(f.Begin) && !from.After(f.End.Add(backAfter))
	})
}
