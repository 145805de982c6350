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

// between counts the sales from one moment up to another.
func (p pace) between(from, to time.Time) int { return max(0, p.before(to)-p.before(from)) }

func (p pace) before(t time.Time) int {
	n, _ := slices.BinarySearchFunc(p, t, time.Time.Compare)
	return n
}

// mustSellFrom gives the moments from which a fault is no excuse: its end, and for a fault of one replica also the expiry of the lock that
// the replica may have held, for the others can sell then. A fault that may leave a lock behind is an excuse until that expires.
func (r Record) mustSellFrom(f Injected) []time.Time {
	switch {
	case f.Kind.canOrphanLock():
		return []time.Time{f.End.Add(r.Expiry)}
	case f.Kind.effect().whom != oneOnly:
		return []time.Time{f.End}
	case f.For <= r.Expiry:
		return []time.Time{f.Begin.Add(r.Expiry)}
	default:
		return []time.Time{f.Begin.Add(r.Expiry), f.End}
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
