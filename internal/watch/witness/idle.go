package witness

import (
	"slices"
	"time"
)

// turn is a sale's coming in, or its going out.
type turn struct {
	at   time.Time
	sale string
	in   bool
}

// idle finds the times in which nobody was inside, though somebody waited who came in next.
func (a Account) idle() (found []Finding) {
	asked := a.asked()
	var left turn // the last one's
	inside := 0
	for _, t := range a.turns() {
		switch {
		case !t.in:
			inside--
			left = t
		case inside == 0 && left.sale != "":
			since := left.at // a run of a job asks for nothing: it waits for its tick
			if asked[t.sale].After(since) {
				since = asked[t.sale]
			}
			if d := t.at.Sub(since); d > longWait && !asked[t.sale].IsZero() {
				found = append(found, Finding{Kind: Idle, At: t.at, By: t.sale, Of: left.sale, For: Millis(d)})
			}
			inside++
		default:
			inside++
		}
	}
	return found
}

// turns are the times at which somebody came in or went out, in order.
func (a Account) turns() (all []turn) {
	for _, i := range a.Insides {
		all = append(all, turn{at: i.From, sale: i.Sale, in: true})
		if !i.To.IsZero() {
			all = append(all, turn{at: i.To, sale: i.Sale})
		}
	}
	slices.SortStableFunc(all, func(a, b turn) int { return a.at.Compare(b.at) })
	return all
}

// asked is when each sale asked for the lock first.
func (a Account) asked() map[string]time.Time {
	asked := map[string]time.Time{}
	for _, event := range a.Events {
		if _, before := asked[event.Sale]; event.Kind == KindAsks && !before {
			asked[event.Sale] = event.Replied
		}
	}
	return asked
}
