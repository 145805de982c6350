package witness

import (
	"cmp"
	"slices"

	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// segmentStock is the state of one stock segment, or of the whole stock, as far as commands show it.
type segmentStock struct {
	lastWrite       Event // latest known write; zero: none
	unconfirmedRead Event // latest read that showed a write whose reply was not yet known; zero: none
	maxToken        int64 // largest fencing token that the store has seen
}

// recordStockCommand reports lost updates, refused tokens and late writes.
func (a *Account) recordStockCommand(s *Sale, event Event) {
	c := event.Command
	if c.Verb != Reads && c.Verb != Writes {
		return
	}
	if a.stocks[event.Segment] == nil {
		a.stocks[event.Segment] = &segmentStock{}
	}
	stock := a.stocks[event.Segment]
	before := stock.lastWrite
	// Without a known token, the larger one was seen before the recording began.
	if c.Outcome == Refused && event.Token > 0 && stock.maxToken > 0 {
		a.report(Finding{Kind: RefusedToken, At: event.Replied, Subject: s.Name, Token: event.Token, LargerToken: stock.maxToken})
	}
	if c.Outcome != Done {
		return
	}
	stock.maxToken = max(stock.maxToken, event.Token)
	if c.Verb == Reads {
		s.lastRead = event
		return
	}
	if shown := stock.unconfirmedRead; shown.Command != nil && shown.Command.Stock == c.Stock && event.Sent.Before(shown.Replied) {
		stock.unconfirmedRead = Event{} // This was that write: it was executed before others read and wrote.
		return
	}
	read := s.lastRead.Command
	switch {
	case before.Command == nil || read == nil || read.Stock == before.Command.Stock:
	case before.Replied.Before(s.lastRead.Sent):
		stock.unconfirmedRead = s.lastRead
	default:
		a.report(Finding{Kind: LostUpdate, At: event.Replied, Subject: s.Name, Other: before.Sale, ReadStock: read.Stock, WrittenStock: c.Stock})
	}
	stock.lastWrite, s.wroteAt = event, event.Replied
	for _, h := range slices.Backward(a.Holdings) {
		if h.BelongsTo(s.Name) && h.Segment == event.Segment && !h.From.After(event.Replied) {
			a.report(s.findLateWrite(h)...)
			return
		}
	}
}

// findLateWrite returns a finding if a sale wrote after its holding had ended.
func (s *Sale) findLateWrite(h *Holding) []Finding {
	if h.End == Ongoing || !h.To.Before(s.wroteAt) {
		return nil
	}
	return []Finding{{Kind: WroteLate, At: s.wroteAt, Subject: s.Name, Duration: Millis(s.wroteAt.Sub(h.To))}}
}

// compareLedger reports a difference between the ledger and the answer to a buyer.
func (a *Account) compareLedger(event Event) {
	// A sale that never asked for the lock has no name.
	found := Finding{At: event.Replied, Subject: cmp.Or(a.saleNames[event.Owner], event.Replica)}
	isBooked, inDoubt := event.Kind == KindOrderBooked, event.Code == lock.CodeOf(service.ErrOutcomeUnknown)
	switch {
	case event.Kind == KindOrderDuplicated:
		found.Kind = DoubleSale
	case isBooked && inDoubt:
		found.Kind = InDoubtBooked
	case inDoubt:
		found.Kind = InDoubtUnbooked
	case isBooked && event.Code != "":
		found.Kind = SoldDespiteError
	case !isBooked && event.Code == "":
		found.Kind = NeverBooked
	default:
		return
	}
	a.report(found)
}

// beginRun begins a run of a tick, and reports if another run of the tick began before.
func (a *Account) beginRun(s *Sale, event Event) {
	a.enter(s, event.Replied)
	if first, ok := a.firstRuns[event.Tick]; ok {
		a.report(Finding{Kind: RanTickTwice, At: event.Replied, Subject: event.Sale, Other: first, Tick: event.Tick})
	} else {
		a.firstRuns[event.Tick] = event.Sale
	}
}
