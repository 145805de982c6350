package witness

// again is for a command that counts one more lease of its holder. If nobody is known to hold the lock, the holder had it from a command
// whose reply was lost: the client sent it twice.
func (k *keyOf) again(event Event) {
	if !k.held {
		k.begin(event.Command.Holder, event.Sent, event.Sent, event.Command.TTL)
	}
}

// refusedByItself begins the holding of a command that its client sent twice, if the second was refused for the first.
func (k *keyOf) refusedByItself(event Event) bool {
	if !k.resent[event.Replica] {
		return false
	}
	delete(k.resent, event.Replica)
	k.begin(event.Command.Holder, event.Sent, event.Sent, event.Command.TTL)
	return true
}

// resentBy are the replicas one of whose commands took effect twice.
func resentBy(events []Event) map[string]bool {
	resent := map[string]bool{}
	for _, event := range events {
		if event.Kind == KindResent {
			resent[event.Replica] = true
		}
	}
	return resent
}

// barred finds the sales that waited for the lock in vain, and had it themselves without knowing.
func (a Account) barred() (found []Finding) {
	asked, obtained := map[string]Event{}, map[string]bool{}
	for _, event := range a.Events {
		switch event.Kind {
		case KindAsks:
			asked[event.Sale] = event
		case KindObtains:
			obtained[event.Sale] = true
		case KindEnds:
			asks, asked := asked[event.Sale]
			d := event.Replied.Sub(asks.Replied)
			if asked && !obtained[event.Sale] && d >= longWait && a.holderAt(asks.Replied, event.Replied) == event.Sale {
				found = append(found, Finding{Kind: WaitsForItself, At: event.Replied, By: event.Sale, For: Millis(d)})
			}
		default:
		}
	}
	return found
}
