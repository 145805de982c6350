package soak

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	rateWindow   = time.Second            // over which a rate is taken
	maxRecovery  = 2 * time.Second        // within which the rate must be back, as far as is asked for
	recoveryStep = 100 * time.Millisecond // how finely that is told
)

// saleTimes is the times of all sales, in order.
type saleTimes []time.Time

func (p saleTimes) countBetween(from, to time.Time) int {
	return max(0, p.countBefore(to)-p.countBefore(from))
}

func (p saleTimes) countBefore(t time.Time) int {
	n, _ := slices.BinarySearchFunc(p, t, time.Time.Compare)
	return n
}

// recoveryStarts gives the moments from which a fault is no excuse: its end, and for a fault of one replica also the expiry of the lock that
// the replica may have held, for the others can sell then. A fault that may leave a lock behind is an excuse until that expires.
func (r Record) recoveryStarts(f Injected) []time.Time {
	switch {
	case f.Kind.effect().leavesLock:
		return []time.Time{f.End.Add(expiry)}
	case f.Kind.effect().scope != oneReplica:
		return []time.Time{f.End}
	case f.For <= expiry:
		return []time.Time{f.Begin.Add(expiry)}
	default:
		return []time.Time{f.Begin.Add(expiry), f.End}
	}
}

// timeToRate tells how long after a moment a rate was back: it looks for the beginning of the first second with at least that many
// sales. If there is none up to until, it gives the time up to there, and false.
func (p saleTimes) timeToRate(from, until time.Time, rate float64) (time.Duration, bool) {
	for after := time.Duration(0); !from.Add(after + rateWindow).After(until); after += recoveryStep {
		if float64(p.countBetween(from.Add(after), from.Add(after+rateWindow))) >= rate*rateWindow.Seconds() {
			return after, true
		}
	}
	return max(0, until.Sub(from)), false
}

// checkRecovery looks how soon sales go on after a fault. That there are none is a flaw; that there are few may be the machine's, whose
// other work can take two thirds of it away.
func (t *timeline) checkRecovery(check *Check) {
	for _, seen := range t.aftermaths {
		if seen.Error != "" {
			continue
		}
		check.Checked++
		switch {
		case seen.UsualRate == 0:
			check.addUnchecked("%s: there was no quiet second before it", seen.label(t.Record))
		case seen.Stalled > maxRecovery:
			check.addBroken("%s: hardly a sale for %.1fs; %s", seen.label(t.Record), seen.Stalled.Seconds(), listRefusals(seen.Refusals))
		case !seen.Recovered:
			check.addUnchecked("%s: only some sales until the next fault, by a flaw or by a slow machine; %s", seen.label(t.Record), listRefusals(seen.Refusals))
		case seen.Recovery > maxRecovery:
			check.addUnchecked("%s: a quarter of the rate after %.1fs, by a flaw or by a slow machine; %s",
				seen.label(t.Record), seen.Recovery.Seconds(), listRefusals(seen.Refusals))
		}
	}
}

// listRefusals lists the requests that sold nothing until the next fault, by what their buyers were told.
func listRefusals(codes map[string]int) string {
	words := []string{"until the next fault"}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		words = append(words, fmt.Sprintf("%d %s", codes[code], code))
	}
	if len(words) == 1 {
		return "nobody was refused"
	}
	return strings.Join(words, ", ")
}

// Aftermath is what a fault meant to the buyers.
type Aftermath struct {
	Injected
	CalmTime  time.Duration  // before it, the shop having recovered from the previous fault
	CalmSales int            // sales in that time
	UsualRate float64        // sales a second before it
	Refusals  map[string]int // of the requests that sold nothing, until the next one
	Hit       int            // sales that it kept waiting, or that were not made; at least the commands that it caught
	Lost      int64          // updates, until the next one
	Stalled   time.Duration  // longest time until there were sales again, if only a twentieth of the usual
	Recovery  time.Duration  // longest time until a quarter of the usual rate was back
	Recovered bool           // false: it was not, until the next fault
}

// findAftermaths returns the aftermath of every fault. The usual rate is the median of all calm windows so far.
func (t *timeline) findAftermaths() (all []Aftermath) {
	var rates []int
	recovered := t.Began // from the previous fault
	for i, fault := range t.Faults {
		until, last := t.Ended, i+1 == len(t.Faults)
		if !last {
			until = t.Faults[i+1].Begin
		}
		calm := max(0, fault.Read.Sub(recovered))
		to := recovered.Add(calm)
		for at := recovered; !at.Add(rateWindow).After(to); at = at.Add(rateWindow) {
			rates = append(rates, t.saleTimes.countBetween(at, at.Add(rateWindow)))
		}
		seen := Aftermath{
			Injected: fault, CalmTime: calm, CalmSales: t.saleTimes.countBetween(recovered, to), Refusals: map[string]int{}, Recovered: true,
			Hit: max(fault.Caught, t.countHit(fault, t.slowestSale(recovered, to))), Lost: t.lostBetween(fault.Begin, until),
		}
		if slices.Sort(rates); len(rates) > 0 {
			seen.UsualRate = float64(rates[len(rates)/2]) / rateWindow.Seconds()
		}
		for _, sale := range t.salesDuring(fault.Begin, until) {
			if !sale.sold() && !sale.End.Before(fault.Begin) && (sale.End.Before(until) || last) {
				seen.Refusals[sale.Code]++
			}
		}
		for _, from := range t.recoveryStarts(fault) {
			still, _ := t.saleTimes.timeToRate(from, until, seen.UsualRate/20)
			back, was := t.saleTimes.timeToRate(from, until, seen.UsualRate/4)
			seen.Stalled = max(seen.Stalled, still)
			seen.Recovery, seen.Recovered = max(seen.Recovery, back), seen.Recovered && was
			recovered = from.Add(maxRecovery)
		}
		all = append(all, seen)
	}
	return all
}

func (a Aftermath) label(r Record) string { return string(a.Kind) + " at " + r.at(a.Begin) }

// slowestSale returns how long the slowest sale took of those that were made in a time.
func (t *timeline) slowestSale(from, to time.Time) (took time.Duration) {
	for _, sale := range t.salesDuring(from, to) {
		if sale.sold() && !sale.Start.Before(from) && !sale.End.After(to) {
			took = max(took, sale.End.Sub(sale.Start))
		}
	}
	return took
}

// countHit counts the sales that were going on during a fault and were not made, or had to be repeated, or took longer than the slowest in
// the calm before, and half as long as the fault at least: in seconds of full speed, some sale is always the slowest.
func (t *timeline) countHit(fault Injected, slowest time.Duration) (n int) {
	for _, sale := range t.salesDuring(fault.Begin, fault.End) {
		took := sale.End.Sub(sale.Start)
		if sale.End.After(fault.Begin) && (!sale.sold() || sale.Repeats > 0 || took > slowest && took >= fault.For/2) {
			n++
		}
	}
	return n
}

// minCalmSales is how many sales there must be in the quiet before each fault; fewer prove nothing.
const minCalmSales = 30

func (t *timeline) checkFaultsHit(check *Check) {
	for _, fault := range t.aftermaths {
		check.Checked++
		switch {
		case fault.CalmSales < minCalmSales:
			check.addUnchecked("%s: only %d sales in the %v before it", fault.label(t.Record), fault.CalmSales, fault.CalmTime.Round(time.Millisecond))
		case fault.Error != "":
			check.addUnchecked("%s: %s", fault.label(t.Record), fault.Error)
		case fault.Hit == 0:
			check.addUnchecked("%s: it hit no sale", fault.label(t.Record))
		}
	}
	if len(t.Faults) == 0 {
		check.addUnchecked("there were no faults")
	}
}
