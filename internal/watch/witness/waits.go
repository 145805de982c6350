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

// polled finds the sales that asked for the lock again and again, until they obtained it or gave up. Of several masters, the one that was
// asked most often counts.
func (a Account) polled() (found []Finding) {
	times := map[string]map[int]int{} // by sale and node, of those that are asking
	for _, event := range a.Events {
		c, asked := event.Command, times[event.Sale]
		switch {
		case event.Kind == KindAsks:
			times[event.Sale] = map[int]int{}
		case asked == nil:
		case c != nil:
			asked[event.Node] += c.Polls
			if c.Verb == Takes && c.Outcome == Refused {
				asked[event.Node]++
			}
		case event.Kind == KindObtains || event.Kind == KindEnds:
			if n := mostOf(asked); n > manyAsks {
				found = append(found, Finding{Kind: Polled, At: event.Replied, By: event.Sale, Times: n})
			}
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
