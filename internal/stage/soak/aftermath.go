package soak

import (
	"slices"
	"time"
)

// Aftermath is what a fault meant to the buyers.
type Aftermath struct {
	Injected
	Calm    time.Duration  // before it, the shop having recovered from the previous fault
	Before  int            // sales in that time
	Usual   float64        // sales a second before it
	Codes   map[string]int // of the requests that sold nothing, until the next one
	Hit     int            // sales that it kept waiting, or that were not made; at least the commands that it caught
	Lost    int64          // updates, until the next one
	Still   time.Duration  // longest time until there were sales again, if only a twentieth of the usual
	Back    time.Duration  // longest time until a quarter of the usual rate was back
	WasBack bool           // false: it was not, until the next fault
}

// aftermaths returns the aftermath of every fault. The usual rate is the median of all calm windows so far.
func (t *trial) aftermaths() (all []Aftermath) {
	var rates []int
	recovered := t.Began // from the previous fault
	for i, fault := range t.Faults {
		until, last := t.Ended, i+1 == len(t.Faults)
		if !last {
			until = t.Faults[i+1].Begin
		}
		calm := max(0, fault.Read.Sub(recovered))
		to := recovered.Add(calm)
		for at := recovered; !at.Add(window).After(to); at = at.Add(window) {
			rates = append(rates, t.sold.between(at, at.Add(window)))
		}
		seen := Aftermath{
			Injected: fault, Calm: calm, Before: t.sold.between(recovered, to), Codes: map[string]int{}, WasBack: true,
			Hit: max(fault.Caught, t.countHit(fault, t.slowest(recovered, to))), Lost: t.lost(fault.Begin, until),
		}
		if slices.Sort(rates); len(rates) > 0 {
			seen.Usual = float64(rates[len(rates)/2]) / window.Seconds()
		}
		for _, sale := range t.goingOn(fault.Begin, until) {
			if !sale.sold() && !sale.End.Before(fault.Begin) && (sale.End.Before(until) || last) {
				seen.Codes[sale.Code]++
			}
		}
		for _, from := range t.mustSellFrom(fault) {
			still, _ := t.sold.back(from, until, seen.Usual/20)
			back, was := t.sold.back(from, until, seen.Usual/4)
			seen.Still = max(seen.Still, still)
			seen.Back, seen.WasBack = max(seen.Back, back), seen.WasBack && was
			recovered = from.Add(backAfter)
		}
		all = append(all, seen)
	}
	return all
}

// label names a fault and its time.
func (a Aftermath) label(r Record) string { return string(a.Kind) + " at " + r.at(a.Begin) }

// slowest returns how long the slowest sale took of those that were made in a time.
func (t *trial) slowest(from, to time.Time) (took time.Duration) {
	for _, sale := range t.goingOn(from, to) {
		if sale.sold() && !sale.Start.Before(from) && !sale.End.After(to) {
			took = max(took, sale.End.Sub(sale.Start))
		}
	}
	return took
}

// countHit counts the sales that were going on during a fault and were not made, or had to be repeated, or took longer than the slowest in
// the calm before, and half as long as the fault at least: in seconds of full speed, some sale is always the slowest.
func (t *trial) countHit(fault Injected, slowest time.Duration) (n int) {
	for _, sale := range t.goingOn(fault.Begin, fault.End) {
		took := sale.End.Sub(sale.Start)
		if sale.End.After(fault.Begin) && (!sale.sold() || sale.Repeats > 0 || took > slowest && took >= fault.For/2) {
			n++
		}
	}
	return n
}
