package soak

import (
	"slices"
	"time"
)

// Aftermath is what a fault meant to the buyers.
type Aftermath struct {
	Injected
	Usual   float64        // sales a second before it
	Sold    int            // until the next one
	Codes   map[string]int // of the requests that sold nothing
	Hit     int            // sales that it kept waiting, or that were not made; at least the commands that it caught
	Lost    int64          // updates, until the next one
	Still   time.Duration  // longest time until there were sales again, if only a twentieth of the usual
	Back    time.Duration  // longest time until a quarter of the usual rate was back
	WasBack bool           // false: it was not, until the next fault
}

// aftermaths gives the aftermath of every fault.
func aftermaths(r Record) []Aftermath {
	sold := paceOf(r)
	sales := queue(sorted(r.Sales, func(a, b *Sale) int { return a.Start.Compare(b.Start) }))
	var all []Aftermath
	for i, fault := range r.Faults {
		until := r.until(i)
		seen := Aftermath{
			Injected: fault, Usual: r.usual(sold, i), Sold: sold.between(fault.Begin, until), Codes: map[string]int{}, WasBack: true,
			Hit: max(fault.Caught, r.hit(sales, i)), Lost: r.lostAt(until) - r.lostAt(fault.Begin),
		}
		for _, sale := range sales.from(fault.Begin) {
			if !sale.sold() && !sale.End.Before(fault.Begin) && (sale.End.Before(until) || i+1 == len(r.Faults)) {
				seen.Codes[sale.Code]++
			}
		}
		for _, from := range r.mustSellFrom(fault) {
			still, _ := sold.back(from, until, seen.Usual/20)
			back, was := sold.back(from, until, seen.Usual/4)
			seen.Still = max(seen.Still, still)
			seen.Back, seen.WasBack = max(seen.Back, back), seen.WasBack && was
		}
		all = append(all, seen)
	}
	return all
}

// queue is sales in the order in which they began.
type queue []*Sale

// from gives the sales that may have ended at a moment or later: none takes longer than a request may.
func (q queue) from(t time.Time) queue {
	i, _ := slices.BinarySearchFunc(q, t.Add(-requestTimeout-time.Second), func(s *Sale, t time.Time) int { return s.Start.Compare(t) })
	return q[i:]
}

// hit counts the sales that were going on during fault i and were not made, or took longer than each of those in the calm before, and half
// as long as the fault at least: in seconds of full speed, some sale is always the slowest.
func (r Record) hit(sales queue, i int) (n int) {
	fault := r.Faults[i]
	from, to := r.calm(i)
	var usual time.Duration
	for _, sale := range sales.from(from) {
		if sale.Start.After(to) {
			break
		}
		if sale.sold() && !sale.Start.Before(from) && !sale.End.After(to) {
			usual = max(usual, sale.End.Sub(sale.Start))
		}
	}
	for _, sale := range sales.from(fault.Begin) {
		if sale.Start.After(fault.End) {
			break
		}
		took := sale.End.Sub(sale.Start)
		if sale.End.After(fault.Begin) && (!sale.sold() || took > usual && took >= fault.For/2) {
			n++
		}
	}
	return n
}

// lostAt gives the updates that were lost up to a moment, in all runs, as they were seen.
func (r Record) lostAt(t time.Time) (all int64) {
	lost := map[string]int64{}
	for _, look := range r.Looks {
		if !look.At.After(t) {
			lost[look.ID] = max(lost[look.ID], look.Lost())
		}
	}
	for _, n := range lost {
		all += n
	}
	return all
}
