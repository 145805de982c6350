package witness

import "time"

// stocks finds what went wrong with the stock: updates that were lost, and tokens that were refused.
func (a Account) stocks() (found []Finding) {
	read := map[string]int64{} // what a sale read last
	var before *Event          // the write before
	var seen int64
	for i, event := range a.Events {
		if event.Kind != KindCommand || event.Command.Verb != Reads && event.Command.Verb != Writes {
			continue
		}
		c := event.Command
		switch {
		case c.Outcome == Refused && event.Token > 0:
			found = append(found, Finding{Kind: RefusedToken, At: event.Replied, By: event.Sale, Token: event.Token, Seen: seen})
		case c.Outcome != Done:
		case c.Verb == Reads:
			read[event.Sale] = c.Stock
		default:
			had, hasRead := read[event.Sale]
			if before != nil && hasRead && had != before.Command.Stock {
				found = append(found, Finding{
					Kind: LostUpdate, At: event.Replied, By: event.Sale, Of: before.Sale, Read: had, Wrote: c.Stock,
				})
			}
			before = &a.Events[i]
		}
		if c.Outcome == Done {
			seen = max(seen, event.Token)
		}
	}
	return found
}

// wroteLate finds the sales that wrote after their lock had ended.
func (a Account) wroteLate() (found []Finding) {
	for _, event := range a.Events {
		if event.Kind != KindCommand || event.Command.Verb != Writes || event.Command.Outcome != Done {
			continue
		}
		if ended, late := a.lateFor(event.Sale, event.Replied); late {
			found = append(found, Finding{Kind: WroteLate, At: event.Replied, By: event.Sale, For: Millis(event.Replied.Sub(ended))})
		}
	}
	return found
}

// lateFor gives when a sale's lock ended, if it did so before a moment, and the sale did not have it again.
func (a Account) lateFor(sale string, at time.Time) (ended time.Time, late bool) {
	for _, h := range a.Holdings {
		if !isOf(h.Holder, sale) || h.From.After(at) {
			continue
		}
		ended, late = h.To, h.End != Lasting && h.To.Before(at)
	}
	return ended, late
}
