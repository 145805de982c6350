package witness

import "time"

// unanswered finds the sales that failed because a command that asked for their lock had no reply, or none in time.
func (a Account) unanswered() (found []Finding) {
	for _, end := range a.Events {
		if end.Kind != KindEnds || end.Error == "" {
			continue
		}
		if asked, failed := a.unansweredOf(end); failed {
			found = append(found, Finding{Kind: Unanswered, At: end.Replied, By: end.Sale, For: Millis(end.Replied.Sub(asked))})
		}
	}
	return found
}

// unansweredOf gives when the first such command of a sale was sent. A sale that obtained the lock has none.
func (a Account) unansweredOf(end Event) (asked time.Time, failed bool) {
	for _, event := range a.Events {
		switch {
		case event.Sale != end.Sale:
		case event.Kind == KindObtains:
			return time.Time{}, false
		case event.Command == nil || event.Command.Verb != Takes:
		case event.Command.Outcome == Unknown || event.Replied.After(end.Replied):
			if !failed || event.Sent.Before(asked) {
				asked, failed = event.Sent, true
			}
		}
	}
	return asked, failed
}
