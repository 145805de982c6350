package soak

import (
	"slices"
	"time"
)

// comesWithin is how long after a buyer went away its order may still be written: longer than any fault holds a sale up.
const comesWithin = requestTimeout

// silent are the buyers who were told no order's id. Each can have one order, which is written from when it asks until it cannot come any
// more.
type silent struct {
	next []Sale      // that have not asked yet
	open []time.Time // until when those who have asked can have theirs, the first to end first
}

// silentOf returns those of a trial.
func silentOf(t *trial) *silent {
	s := &silent{}
	for _, sale := range t.Sales {
		if sale.OrderID == "" && (sale.outcome() == unknown || sale.outcome() == notMade) {
			s.next = append(s.next, sale)
		}
	}
	return s
}

// has gives one of them an order that was written at that moment, and reports whether there is one left for it. It is asked about one
// order after the other, as they were written.
func (s *silent) has(at time.Time) bool {
	for ; len(s.next) > 0 && !s.next[0].Start.After(at); s.next = s.next[1:] {
		until := s.next[0].End.Add(comesWithin)
		i, _ := slices.BinarySearchFunc(s.open, until, time.Time.Compare)
		s.open = slices.Insert(s.open, i, until)
	}
	for len(s.open) > 0 && s.open[0].Before(at) {
		s.open = s.open[1:]
	}
	if len(s.open) == 0 {
		return false
	}
	s.open = s.open[1:]
	return true
}
