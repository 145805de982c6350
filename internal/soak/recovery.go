package soak

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	rateWindow   = time.Second            // period over which a rate of sales is measured
	maxRecovery  = 2 * time.Second        // longest time allowed until the rate has recovered
	recoveryStep = 100 * time.Millisecond // resolution with which the time to recover is measured
)

// Shares of the usual rate of sales.
const (
	stalledShare   = 1.0 / 20 // at a lower rate, sales count as stalled, which is a flaw of the lock
	recoveredShare = 1.0 / 4  // at this rate, sales count as recovered, because other work of the machine can take the rest
)

// saleTimes lists the times when sales were answered, sorted.
type saleTimes []time.Time

// countBetween returns the number of sales at or after from, and before to.
func (s saleTimes) countBetween(from, to time.Time) int {
	return max(0, s.countBefore(to)-s.countBefore(from))
}

// countBefore returns the number of sales before t.
func (s saleTimes) countBefore(t time.Time) int {
	n, _ := slices.BinarySearchFunc(s, t, time.Time.Compare)
	return n
}

// recoveryStarts returns the times from which sales must recover from a fault. Usually this is the end of the fault. During a fault of one
// replica, sales must also recover when the lock that this replica may have held has expired, because the others can sell then. After a
// fault that may leave a lock behind, sales must recover once that lock has expired.
func (r Record) recoveryStarts(f Injected) []time.Time {
	switch {
	case f.Kind.effect().leavesLock:
		return []time.Time{f.End.Add(expiry)}
	case f.Kind.effect().scope != oneReplica:
		return []time.Time{f.End}
	case f.Duration <= expiry:
		return []time.Time{f.Begin.Add(expiry)}
	default:
		return []time.Time{f.Begin.Add(expiry), f.End}
	}
}

// timeToRate returns the time between from and the start of the first rateWindow with at least the given rate, in sales per second. If no
// such window ends before until, it returns the time between from and until, and false.
func (s saleTimes) timeToRate(from, until time.Time, rate float64) (time.Duration, bool) {
	for after := time.Duration(0); !from.Add(after + rateWindow).After(until); after += recoveryStep {
		if float64(s.countBetween(from.Add(after), from.Add(after+rateWindow))) >= rate*rateWindow.Seconds() {
			return after, true
		}
	}
	return max(0, until.Sub(from)), false
}

// checkRecovery checks how soon sales recover after each fault. If almost no sales are made, the rule is broken. If few are made, the case
// is unchecked, because other work may have slowed down the machine.
func (t *timeline) checkRecovery(check *Check) {
	for _, after := range t.aftermaths {
		if after.Error != "" {
			continue
		}
		check.Checked++
		fault, refusals := after.label(t.Record), listRefusals(after.Refusals)
		switch {
		case after.UsualRate == 0:
			check.addUnchecked("%s: there was no second without a fault before it", fault)
		case after.Stalled > maxRecovery:
			check.addBroken("%s: almost no sales for %.1fs; %s", fault, after.Stalled.Seconds(), refusals)
		case !after.Recovered:
			check.addUnchecked("%s: few sales until the next fault, because of a flaw or a slow machine; %s", fault, refusals)
		case after.Recovery > maxRecovery:
			check.addUnchecked("%s: a quarter of the rate only after %.1fs, because of a flaw or a slow machine; %s",
				fault, after.Recovery.Seconds(), refusals)
		}
	}
}

// listRefusals returns the numbers of sales that were not made until the next fault, by error code, as a text.
func listRefusals(codes map[string]int) string {
	if len(codes) == 0 {
		return "no refusals"
	}
	var counts []string
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		counts = append(counts, fmt.Sprintf("%d %s", codes[code], code))
	}
	return "until the next fault: " + strings.Join(counts, ", ")
}

// Aftermath is the effect of a fault on sales, until the next fault.
type Aftermath struct {
	Injected
	CalmTime  time.Duration  // time between the recovery from the previous fault and this one
	CalmSales int            // sales in CalmTime
	UsualRate float64        // sales a second without faults; 0: not measured
	Refusals  map[string]int // error code → number of sales that were not made
	SalesHit  int            // sales that were not made, or took longer, because of the fault; at least TargetsHit
	Lost      int64          // lost updates
	Stalled   time.Duration  // longest time until sales reached stalledShare of the usual rate
	Recovery  time.Duration  // longest time until sales reached recoveredShare of the usual rate
	Recovered bool           // the rate reached recoveredShare before the next fault
}

// findAftermaths returns the aftermath of every fault. The usual rate is the median rate of all fault-free windows so far.
func (t *timeline) findAftermaths() (all []Aftermath) {
	var rates []int
	recovered := t.Began // time when sales had to have recovered from the previous fault
	for i, fault := range t.Faults {
		calm := max(0, fault.LastReadAt.Sub(recovered))
		calmEnd := recovered.Add(calm)
		for at := recovered; !at.Add(rateWindow).After(calmEnd); at = at.Add(rateWindow) {
			rates = append(rates, t.saleTimes.countBetween(at, at.Add(rateWindow)))
		}
		until := t.Ended
		isLast := i+1 == len(t.Faults)
		if !isLast {
			until = t.Faults[i+1].Begin
		}
		after := Aftermath{
			Injected:  fault,
			CalmTime:  calm,
			CalmSales: t.saleTimes.countBetween(recovered, calmEnd),
			UsualRate: medianRate(rates),
			Refusals:  t.countRefusals(fault.Begin, until, isLast),
			SalesHit:  max(fault.TargetsHit, t.countHit(fault, t.slowestSale(recovered, calmEnd))),
			Lost:      t.lostBetween(fault.Begin, until),
			Recovered: true,
		}
		for _, from := range t.recoveryStarts(fault) {
			stalled, _ := t.saleTimes.timeToRate(from, until, after.UsualRate*stalledShare)
			recovery, ok := t.saleTimes.timeToRate(from, until, after.UsualRate*recoveredShare)
			after.Stalled = max(after.Stalled, stalled)
			after.Recovery = max(after.Recovery, recovery)
			after.Recovered = after.Recovered && ok
			recovered = from.Add(maxRecovery)
		}
		all = append(all, after)
	}
	return all
}

// medianRate sorts the numbers of sales in windows, and returns their median as sales a second; 0 without any.
func medianRate(counts []int) float64 {
	if len(counts) == 0 {
		return 0
	}
	slices.Sort(counts)
	return float64(counts[len(counts)/2]) / rateWindow.Seconds()
}

// countRefusals counts the sales that were refused between from and until, by their codes. If openEnded, it also counts those that were
// refused later.
func (t *timeline) countRefusals(from, until time.Time, openEnded bool) map[string]int {
	codes := map[string]int{}
	for _, sale := range t.salesDuring(from, until) {
		if !sale.isSold() && !sale.End.Before(from) && (openEnded || sale.End.Before(until)) {
			codes[sale.Code]++
		}
	}
	return codes
}

// label returns the kind and the time of a fault.
func (a Aftermath) label(r Record) string { return string(a.Kind) + " at " + r.offsetText(a.Begin) }

// slowestSale returns the duration of the slowest sale between from and to.
func (t *timeline) slowestSale(from, to time.Time) (took time.Duration) {
	for _, sale := range t.salesDuring(from, to) {
		if sale.isSold() && !sale.Start.Before(from) && !sale.End.After(to) {
			took = max(took, sale.End.Sub(sale.Start))
		}
	}
	return took
}

// countHit counts the sales during a fault that were not made, had to be repeated, or were delayed. A delayed sale took longer than the
// slowest sale before the fault, and at least half as long as the fault. The second condition is needed because some sale is always the
// slowest.
func (t *timeline) countHit(fault Injected, slowest time.Duration) (n int) {
	for _, sale := range t.salesDuring(fault.Begin, fault.End) {
		took := sale.End.Sub(sale.Start)
		if sale.End.After(fault.Begin) && (!sale.isSold() || sale.Repeats > 0 || took > slowest && took >= fault.Duration/2) {
			n++
		}
	}
	return n
}

// minCalmSales is the smallest number of fault-free sales before each fault; with fewer, a hit would prove nothing.
const minCalmSales = 30

// checkFaultsHit checks that each fault was injected, hit a sale, and followed enough sales without a fault.
func (t *timeline) checkFaultsHit(check *Check) {
	for _, after := range t.aftermaths {
		check.Checked++
		fault := after.label(t.Record)
		switch {
		case after.CalmSales < minCalmSales:
			check.addUnchecked("%s: only %d sales in the %v before it", fault, after.CalmSales, after.CalmTime.Round(time.Millisecond))
		case after.Error != "":
			check.addUnchecked("%s: %s", fault, after.Error)
		case after.SalesHit == 0:
			check.addUnchecked("%s: it hit no sale", fault)
		}
	}
	if len(t.Faults) == 0 {
		check.addUnchecked("there were no faults")
	}
}
