package soak

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	window    = time.Second            // over which a rate is taken
	backAfter = 2 * time.Second        // within which the rate must be back, as far as is asked for
	step      = 100 * time.Millisecond // how finely that is told
)

// pace is the times of all sales, in order.
type pace []time.Time

func (p pace) between(from, to time.Time) int { return max(0, p.before(to)-p.before(from)) }

func (p pace) before(t time.Time) int {
	n, _ := slices.BinarySearchFunc(p, t, time.Time.Compare)
	return n
}

// mustSellFrom gives the moments from which a fault is no excuse: its end, and for a fault of one replica also the expiry of the lock that
// the replica may have held, for the others can sell then. A fault that may leave a lock behind is an excuse until that expires.
func (r Record) mustSellFrom(f Injected) []time.Time {
	switch {
	case f.Kind.effect().orphans:
		return []time.Time{f.End.Add(expiry)}
	case f.Kind.effect().scope != oneOnly:
		return []time.Time{f.End}
	case f.For <= expiry:
		return []time.Time{f.Begin.Add(expiry)}
	default:
		return []time.Time{f.Begin.Add(expiry), f.End}
	}
}

// back tells how long after a moment a rate was back: it looks for the beginning of the first second with at least that many
// sales. If there is none up to until, it gives the time up to there, and false.
func (p pace) back(from, until time.Time, rate float64) (time.Duration, bool) {
	for after := time.Duration(0); !from.Add(after + window).After(until); after += step {
		if float64(p.between(from.Add(after), from.Add(after+window))) >= rate*window.Seconds() {
			return after, true
		}
	}
	return max(0, until.Sub(from)), false
}

// checkRecovery looks how soon sales go on after a fault. That there are none is a flaw; that there are few may be the machine's, whose
// other work can take two thirds of it away.
func (t *trial) checkRecovery(check *Check) {
	for _, seen := range t.faults {
		if seen.Error != "" {
			continue
		}
		check.Checked++
		switch {
		case seen.Usual == 0:
			check.unknown("%s: there was no quiet second before it", seen.label(t.Record))
		case seen.Still > backAfter:
			check.breaks("%s: hardly a sale for %.1fs; %s", seen.label(t.Record), seen.Still.Seconds(), counts(seen.Codes))
		case !seen.WasBack:
			check.unknown("%s: only some sales until the next fault, by a flaw or by a slow machine; %s", seen.label(t.Record), counts(seen.Codes))
		case seen.Back > backAfter:
			check.unknown("%s: a quarter of the rate after %.1fs, by a flaw or by a slow machine; %s",
				seen.label(t.Record), seen.Back.Seconds(), counts(seen.Codes))
		}
	}
}

// counts lists the requests that sold nothing until the next fault, by what their buyers were told.
func counts(codes map[string]int) string {
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

// enoughSales is how many sales there must be in the quiet before each fault; fewer prove nothing.
const enoughSales = 30

func (t *trial) wasPutToTheTest(check *Check) {
	for _, fault := range t.faults {
		check.Checked++
		switch {
		case fault.Before < enoughSales:
			check.unknown("%s: only %d sales in the %v before it", fault.label(t.Record), fault.Before, fault.Calm.Round(time.Millisecond))
		case fault.Error != "":
			check.unknown("%s: %s", fault.label(t.Record), fault.Error)
		case fault.Hit == 0:
			check.unknown("%s: it hit no sale", fault.label(t.Record))
		}
	}
	if len(t.Faults) == 0 {
		check.unknown("there were no faults")
	}
}
