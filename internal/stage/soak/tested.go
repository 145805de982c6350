package soak

import (
	"fmt"
	"time"
)

// enoughSales is how many sales there must be in the quiet before each fault; fewer prove nothing.
const enoughSales = 30

func wasPutToTheTest(r Record, all []Aftermath) Check {
	check := Check{Rule: fmt.Sprintf("every fault hit a sale, after at least %d others", enoughSales)}
	sold := paceOf(r)
	for i, fault := range all {
		check.Checked++
		from, to := r.calm(i)
		if n := sold.between(from, to); n < enoughSales {
			check.unknown("%s at %s: only %d sales in the %v before it", fault.Kind, r.at(fault.Begin), n, to.Sub(from).Round(time.Millisecond))
		} else if fault.Error != "" {
			check.unknown("%s at %s: %s", fault.Kind, r.at(fault.Begin), fault.Error)
		} else if fault.Hit == 0 {
			check.unknown("%s at %s: it hit no sale", fault.Kind, r.at(fault.Begin))
		}
	}
	if len(r.Faults) == 0 {
		check.unknown("there were no faults")
	}
	return check
}

// losesWhatIsPredicted checks that a weak lock still has its flaw, and what a whole run cannot have lost.
func losesWhatIsPredicted(r Record, all []Aftermath) Check {
	check := Check{Rule: "no update is lost"}
	if !fenced(r.Lock) {
		check.Rule = "an update is lost by each fault that must cost " + r.Lock + " one, as predicted"
	}
	predicted := 0
	for _, fault := range all {
		if !fault.loses(r.Lock, r.Expiry) || fault.Error != "" {
			continue
		}
		predicted++
		check.Checked++
		if fault.Lost <= 0 {
			check.breaks("%s at %s: nothing was lost", fault.Kind, r.at(fault.Begin))
		}
	}
	switch {
	case fenced(r.Lock):
		check.Checked++
		if n := r.lost(); n > 0 {
			check.breaks("%d were", n)
		}
	case predicted == 0:
		check.note("no fault of this plan must cost one")
	default:
		check.note("%d faults had to; %d updates were lost in all", predicted, r.lost())
	}
	return check
}

// lost counts the updates that were lost.
func (r Record) lost() int64 {
	var last time.Time
	for _, look := range r.Looks {
		if look.At.After(last) {
			last = look.At
		}
	}
	return r.lostAt(last)
}

// oversold counts the sales beyond what there was, of the run with most of them.
func (r Record) oversold() (n int64) {
	for _, look := range r.Looks {
		n = max(n, look.Oversold())
	}
	return n
}
