package witness

import (
	"strings"
	"time"
)

// Inside is the time in which a sale believed that it held the lock: from when it obtained it until it began to give it back, was told that
// it was lost, or died.
type Inside struct {
	Sale string    `json:"sale"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"` // zero: it did not end
}

// insides gives these times in the order in which they began.
func insides(events []Event) []Inside {
	var all []Inside
	open, depth := map[string]int{}, map[string]int{} // by sale: where in all, and how many calls deep
	end := func(sale string, at time.Time) {
		if i, is := open[sale]; is {
			all[i].To = at
			delete(open, sale)
			delete(depth, sale)
		}
	}
	for _, event := range events {
		switch event.Kind {
		case KindObtains, KindRuns:
			if depth[event.Sale]++; depth[event.Sale] == 1 {
				open[event.Sale] = len(all)
				all = append(all, Inside{Sale: event.Sale, From: event.Replied})
			}
		case KindLeaves:
			if depth[event.Sale]--; depth[event.Sale] == 0 {
				end(event.Sale, event.Replied)
			}
		case KindLoses, KindEnds, KindRan:
			end(event.Sale, event.Replied)
		case KindDies:
			for sale := range open {
				if ReplicaOf(sale) == event.Replica {
					end(sale, event.Replied)
				}
			}
		default:
		}
	}
	return all
}

// selfish finds the sales that asked for the lock again while they had it, and were to wait.
func (a Account) selfish() (found []Finding) {
	inside, asks := map[string]bool{}, map[string]time.Time{}
	for _, event := range a.Events {
		began, waits := asks[event.Sale]
		switch event.Kind {
		case KindAsks:
			if inside[event.Sale] {
				asks[event.Sale] = event.Replied
			}
		case KindObtains:
			inside[event.Sale] = true
			delete(asks, event.Sale)
		case KindLeaves, KindEnds:
			if waits {
				found = append(found, Finding{Kind: WaitsForItself, At: event.Replied, By: event.Sale, For: Millis(event.Replied.Sub(began))})
				delete(asks, event.Sale)
			}
		default:
		}
	}
	return found
}

// overlap gives how long two were inside together, until an end at the latest.
func overlap(a, b Inside, end time.Time) (from time.Time, d time.Duration) {
	from = a.From
	if b.From.After(from) {
		from = b.From
	}
	to := a.until(end)
	if other := b.until(end); other.Before(to) {
		to = other
	}
	return from, to.Sub(from)
}

func (i Inside) until(end time.Time) time.Time {
	if i.To.IsZero() {
		return end
	}
	return i.To
}

// covers reports whether the sale is inside at a moment.
func (i Inside) covers(at time.Time) bool {
	return !at.Before(i.From) && (i.To.IsZero() || at.Before(i.To))
}

// ReplicaOf gives the replica of a sale's short name.
func ReplicaOf(sale string) string {
	replica, _, _ := strings.Cut(sale, "#")
	return replica
}

// isOf reports whether a holder's lock is this sale's: by its own name, or by that of its replica.
func isOf(holder, sale string) bool { return holder == sale || holder == ReplicaOf(sale) }
