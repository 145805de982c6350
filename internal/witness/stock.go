package witness

import (
	"cmp"
	"slices"

	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// stock is what the sales did with it.
type segmentStock struct {
	lastWrite       Event // the write before
	unconfirmedRead Event // the last read that showed a write whose reply was not known yet
	maxToken        int64 // the largest that the store has seen
}

// recordStock finds what goes wrong with the stock: updates that are lost, tokens that are refused, writes that come too late.
func (a *Account) recordStockCommand(s *Sale, event Event) {
	c := event.Command
	if c.Verb != Reads && c.Verb != Writes {
		return
	}
	if a.stocks[event.Segment] == nil {
		a.stocks[event.Segment] = &segmentStock{}
	}
	of := a.stocks[event.Segment]
	before := of.lastWrite
	if c.Outcome == Refused && event.Token > 0 && of.maxToken > 0 { // or the larger one was seen before the record began
		a.report(Finding{Kind: RefusedToken, At: event.Replied, Subject: s.Name, Token: event.Token, LargerToken: of.maxToken})
	}
	if c.Outcome != Done {
		return
	}
	of.maxToken = max(of.maxToken, event.Token)
	if c.Verb == Reads {
		s.lastRead = event
		return
	}
	if shown := of.unconfirmedRead; shown.Command != nil && shown.Command.Stock == c.Stock && event.Sent.Before(shown.Replied) {
		of.unconfirmedRead = Event{} // this was that write: it was over before others read and wrote
		return
	}
	switch read := s.lastRead.Command; {
	case before.Command == nil || read == nil || read.Stock == before.Command.Stock:
	case before.Replied.Before(s.lastRead.Sent):
		of.unconfirmedRead = s.lastRead
	default:
		a.report(Finding{Kind: LostUpdate, At: event.Replied, Subject: s.Name, Other: before.Sale, ReadStock: read.Stock, WrittenStock: c.Stock})
	}
	of.lastWrite, s.wroteAt = event, event.Replied
	for _, h := range slices.Backward(a.Holdings) {
		if h.BelongsTo(s.Name) && h.Segment == event.Segment && !h.From.After(event.Replied) {
			a.report(s.findLateWrite(h)...)
			return
		}
	}
}

// lateWrite finds that a sale wrote after a lock of its own had ended.
func (s *Sale) findLateWrite(h *Holding) []Finding {
	if h.End == Ongoing || !h.To.Before(s.wroteAt) {
		return nil
	}
	return []Finding{{Kind: WroteLate, At: s.wroteAt, Subject: s.Name, Duration: Millis(s.wroteAt.Sub(h.To))}}
}

// compareLedger finds what is worth a sentence of what a buyer was told, and of what the ledger has.
func (a *Account) compareLedger(event Event) {
	// A sale that never asked for the lock has no name.
	found := Finding{At: event.Replied, Subject: cmp.Or(a.saleNames[event.Owner], event.Replica)}
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
	a.report(found)
}

// beginRun begins a run of a tick, and finds those that were run before.
func (a *Account) beginRun(s *Sale, event Event) {
	a.enter(s, event.Replied)
	if of, ran := a.firstRuns[event.Tick]; ran {
		a.report(Finding{Kind: RanTickTwice, At: event.Replied, Subject: event.Sale, Other: of, Tick: event.Tick})
	} else {
		a.firstRuns[event.Tick] = event.Sale
	}
}
