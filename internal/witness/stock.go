package witness

import (
	"cmp"
	"slices"

	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// stock is what the sales did with it.
type stock struct {
	before Event // the write before
	showed Event // the last read that showed a write whose reply was not known yet
	token  int64 // the largest that the store has seen
}

// recordStock finds what goes wrong with the stock: updates that are lost, tokens that are refused, writes that come too late.
func (a *Account) recordStock(s *Sale, event Event) {
	c := event.Command
	if c.Verb != Reads && c.Verb != Writes {
		return
	}
	if a.stocks[event.Segment] == nil {
		a.stocks[event.Segment] = &stock{}
	}
	of := a.stocks[event.Segment]
	before := of.before
	if c.Outcome == Refused && event.Token > 0 && of.token > 0 { // or the larger one was seen before the record began
		a.find(Finding{Kind: RefusedToken, At: event.Replied, Subject: s.Name, Token: event.Token, LargerToken: of.token})
	}
	if c.Outcome != Done {
		return
	}
	of.token = max(of.token, event.Token)
	if c.Verb == Reads {
		s.read = event
		return
	}
	if shown := of.showed; shown.Command != nil && shown.Command.Stock == c.Stock && event.Sent.Before(shown.Replied) {
		of.showed = Event{} // this was that write: it was over before others read and wrote
		return
	}
	switch read := s.read.Command; {
	case before.Command == nil || read == nil || read.Stock == before.Command.Stock:
	case before.Replied.Before(s.read.Sent):
		of.showed = s.read
	default:
		a.find(Finding{Kind: LostUpdate, At: event.Replied, Subject: s.Name, Other: before.Sale, ReadStock: read.Stock, WrittenStock: c.Stock})
	}
	of.before, s.wrote = event, event.Replied
	for _, h := range slices.Backward(a.Holdings) {
		if h.BelongsTo(s.Name) && h.Segment == event.Segment && !h.From.After(event.Replied) {
			a.find(s.lateWrite(h)...)
			return
		}
	}
}

// lateWrite finds that a sale wrote after a lock of its own had ended.
func (s *Sale) lateWrite(h *Holding) []Finding {
	if h.End == Ongoing || !h.To.Before(s.wrote) {
		return nil
	}
	return []Finding{{Kind: WroteLate, At: s.wrote, Subject: s.Name, Duration: Millis(s.wrote.Sub(h.To))}}
}

// compareLedger finds what is worth a sentence of what a buyer was told, and of what the ledger has.
func (a *Account) compareLedger(event Event) {
	// A sale that never asked for the lock has no name.
	found := Finding{At: event.Replied, Subject: cmp.Or(a.owners[event.Owner], event.Replica)}
	switch booked, inDoubt := event.Kind == KindOrderBooked, event.Code == lock.CodeOf(service.ErrOutcomeUnknown); {
	case event.Kind == KindOrderDuplicated:
		found.Kind = DoubleSale
	case booked && inDoubt:
		found.Kind = InDoubtBooked
	case inDoubt:
		found.Kind = InDoubtUnbooked
	case booked && event.Code != "":
		found.Kind = SoldDespiteError
	case !booked && event.Code == "":
		found.Kind = NeverBooked
	default:
		return
	}
	a.find(found)
}

// beginRun begins a run of a tick, and finds those that were run before.
func (a *Account) beginRun(s *Sale, event Event) {
	a.enter(s, event.Replied)
	if of, ran := a.ran[event.Tick]; ran {
		a.find(Finding{Kind: RanTickTwice, At: event.Replied, Subject: event.Sale, Other: of, Tick: event.Tick})
	} else {
		a.ran[event.Tick] = event.Sale
	}
}
