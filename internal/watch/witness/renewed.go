package witness

// renewedOn finds the locks that were renewed though no sale needed them any more.
func (a Account) renewedOn() (found []Finding) {
	going := map[string]map[string]bool{} // sales that go on, by replica
	ended := map[string]Event{}           // the last end of a sale, by replica
	where := map[string]int{}             // in found, by holder
	for _, event := range a.Events {
		switch event.Kind {
		case KindAsks:
			if going[event.Replica] == nil {
				going[event.Replica] = map[string]bool{}
			}
			going[event.Replica][event.Sale] = true
		case KindEnds:
			delete(going[event.Replica], event.Sale)
			ended[event.Replica] = event
		case KindCommand:
			last, known := ended[event.Replica]
			if !known || !event.renews() || !event.Sent.After(last.Replied) || event.isNeededBy(going[event.Replica]) {
				continue
			}
			holder := event.Command.Holder
			if at, is := where[holder]; is {
				found[at].Times++
				continue
			}
			where[holder] = len(found)
			found = append(found, Finding{Kind: RenewedOn, At: event.Replied, By: actor(event), Of: last.Sale, Times: 1})
		default:
		}
	}
	return found
}

// renews reports whether a command renewed a lock. An expiry that is set whosever the lock is belongs to the taking of it.
func (e Event) renews() bool {
	return e.Command.Verb == Renews && e.Command.Outcome == Done && !e.Command.Forced
}

// isNeededBy reports whether a renewal is for one of these sales: for its own, or, if it is in the name of a replica, for any.
func (e Event) isNeededBy(sales map[string]bool) bool {
	return sales[e.Sale] || e.Sale == "" && len(sales) > 0
}
