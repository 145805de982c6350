package soak

import (
	"maps"
	"slices"
	"time"
)

// run is what the orders say of one.
type run struct {
	id      string
	first   time.Time
	initial int64
	left    map[int64]bool // what its orders left in stock
	lowest  int64          // of these
	twice   int64          // how many orders left what another one had left
}

// runsOf gives the runs in their order.
func runsOf(r Record) []run {
	byID := map[string]*run{}
	for _, order := range r.Orders {
		of := byID[order.Run]
		if of == nil {
			of = &run{id: order.Run, first: order.At, initial: initialStock, lowest: initialStock, left: map[int64]bool{}}
			byID[order.Run] = of
		}
		if order.At.Before(of.first) {
			of.first = order.At
		}
		if of.left[order.After] {
			of.twice++
		}
		of.left[order.After] = true
		of.lowest = min(of.lowest, order.After)
	}
	runs := make([]run, 0, len(byID))
	for _, of := range slices.SortedFunc(maps.Values(byID), func(a, b *run) int { return a.first.Compare(b.first) }) {
		runs = append(runs, *of)
	}
	return runs
}

// begunIn gives the faults that began during a run.
func (r Record) begunIn(runs []run, i int) []Injected {
	return slices.DeleteFunc(slices.Clone(r.Faults), func(f Injected) bool {
		return i > 0 && f.Begin.Before(runs[i].first) || i+1 < len(runs) && !f.Begin.Before(runs[i+1].first)
	})
}

func (r Record) destroyed(runs []run, i int) bool {
	return slices.ContainsFunc(r.begunIn(runs, i), func(f Injected) bool { return f.Kind.destroys() })
}

// opened reports whether a fault in a run allows that updates are lost.
func (r Record) opened(runs []run, i int) bool {
	return !fenced(r.Lock) && slices.ContainsFunc(r.begunIn(runs, i), func(f Injected) bool { return f.opens(r.Lock, r.Expiry) })
}
