package witness

import "time"

// waited finds the sales that waited for long, and behind whom.
func (a Account) waited() (found []Finding) {
	asked := map[string]time.Time{}
	for _, event := range a.Events {
		switch event.Kind {
		case KindAsks:
			asked[event.Sale] = event.Replied
		case KindObtains, KindEnds:
			began, waits := asked[event.Sale]
			delete(asked, event.Sale)
			d := event.Replied.Sub(began)
			behind := a.holderAt(began, event.Replied)
			if !waits || d < longWait || behind == "" || isOf(behind, event.Sale) {
				continue
			}
			kind := Waited
			if event.Kind == KindEnds {
				kind = WaitedInVain
			}
			found = append(found, Finding{Kind: kind, At: event.Replied, By: event.Sale, Of: behind, For: Millis(d)})
		default:
		}
	}
	return found
}

// holderAt gives who held the lock first in that time, "" if nobody did.
func (a Account) holderAt(from, to time.Time) string {
	for _, h := range a.Holdings {
		if h.From.Before(to) && (h.End == Lasting || h.To.After(from)) {
			return h.Holder
		}
	}
	return ""
}

// polled finds the sales that asked for the lock again and again. Of several masters, the one that was asked most often counts.
func (a Account) polled() (found []Finding) {
	times := map[string]map[int]int{} // by sale and node
	for _, event := range a.Events {
		of := times[event.Sale]
		if of == nil {
			of = map[int]int{}
			times[event.Sale] = of
		}
		if c := event.Command; c != nil {
			of[event.Node] += c.Polls
			if c.Verb == Takes && c.Outcome == Refused {
				of[event.Node]++
			}
		}
		if event.Kind != KindObtains && event.Kind != KindEnds {
			continue
		}
		if n := mostOf(of); n > manyAsks {
			found = append(found, Finding{Kind: Polled, At: event.Replied, By: event.Sale, Times: n})
			delete(times, event.Sale)
		}
	}
	return found
}

func mostOf(counts map[int]int) (n int) {
	for _, count := range counts {
		n = max(n, count)
	}
	return n
}
