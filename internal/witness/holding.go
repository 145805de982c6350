package witness

import (
	"slices"
	"time"
)

// Span is a stretch of time.
type Span struct {
	From time.Time
	To   time.Time // zero: it goes on
}

// Covers reports whether a moment is in the span. Its end is not.
func (s Span) Contains(at time.Time) bool {
	return !at.Before(s.From) && (s.To.IsZero() || at.Before(s.To))
}

// And gives what two spans have in common: nothing, if its length is not positive.
func (s Span) Intersect(other Span) Span {
	return Span{later(s.From, other.From), Earlier(s.To, other.To)}
}

// Len is how long a span that has an end was.
func (s Span) Length() time.Duration { return s.To.Sub(s.From) }

// Earlier is the earlier of two times; zero is none.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Holding is the time in which the lock was one holder's in truth: as Redis saw it, as far as the replies tell.
type Holding struct {
	Span

	Holder  string // a sale, or a replica whose sales have it one after the other
	End     HoldingEnd
	EndedBy string // who ended it; "" if it expired
	TTL     Millis // expiry as it was set last; 0: none
	Node    int    // where, if it is that of a master alone, from 1 on
	Segment int    // of the stock, from 1 on; 0: of the whole

	ttlSetAt     time.Time // when it was set last, at the earliest
	lastLostPart *Holding  // of a majority: the part that it lost last
}

// End is how a holding ended.
type HoldingEnd string

// The ends.
const (
	Ongoing            HoldingEnd = ""
	GivenBack          HoldingEnd = "given-back"
	Expired            HoldingEnd = "expired"
	RemovedByOther     HoldingEnd = "removed"     // somebody else removed it
	OverwrittenByOther HoldingEnd = "overwritten" // somebody else wrote over it
	LostByRedis        HoldingEnd = "forgotten"   // Redis lost it
	Vanished           HoldingEnd = "gone"        // nobody is known to have ended it
)

// Expires is when the lock expires unless it is renewed, at the earliest; zero if it never does.
func (h *Holding) ExpiryDeadline() time.Time {
	if h.TTL == 0 {
		return time.Time{}
	}
	return h.ttlSetAt.Add(time.Duration(h.TTL))
}

// Ended is when a holding did by now: also if it has expired, though nobody has noticed. Zero if it goes on.
func (h *Holding) EndTime(now time.Time) time.Time {
	if h.End == Ongoing && h.isExpiredAt(now) {
		return h.ExpiryDeadline()
	}
	return h.To
}

// Is reports whether the lock was this sale's: by its own name, or by that of its replica.
func (h *Holding) BelongsTo(sale string) bool { return isHeldBy(h.Holder, sale) }

func (h *Holding) isExpiredAt(at time.Time) bool { return h.TTL > 0 && !at.Before(h.ExpiryDeadline()) }

// addHolding takes the beginning of a holding on a Redis.
func (a *Account) addHolding(h *Holding) {
	if h.Node > 0 {
		if h = a.addNodeHolding(h); h == nil {
			return
		}
	}
	at := len(a.Holdings)
	for at > 0 && a.Holdings[at-1].From.After(h.From) {
		at--
	}
	a.Holdings = slices.Insert(a.Holdings, at, h)
}

// endHolding takes its end. What expired is noticed only some time later: perhaps somebody was inside then, or has written since.
func (a *Account) endHolding(h *Holding) {
	if h.Node > 0 {
		h = a.endNodeHolding(h)
	}
	if h == nil || h.End != Expired {
		return
	}
	a.expiredHoldings = append(a.expiredHoldings, h)
	for _, s := range a.Sales {
		if h.BelongsTo(s.Name) && h.Segment == s.Segment && s.wroteAt.After(h.To) {
			a.report(s.findLateWrite(h)...)
		}
	}
}

// A lock on several masters is of parts, one on each: who has most of them is the holder.

// addPart takes the beginning of a part. It gives the holding of a majority that begins with it, or nil.
func (a *Account) addNodeHolding(part *Holding) *Holding {
	a.NodeHoldings = append(a.NodeHoldings, part)
	parts := ongoingHoldings(a.NodeHoldings, part.Holder)
	if len(parts) != a.nodeCount/2+1 {
		return nil
	}
	whole := *part
	whole.Node = 0
	for _, p := range parts {
		whole.From = later(whole.From, p.From)
	}
	return &whole
}

func (a *Account) renewMajority(part *Holding) {
	if whole := ongoingHolding(a.Holdings, part.Holder); whole != nil {
		whole.TTL, whole.ttlSetAt = part.TTL, part.ttlSetAt
	}
}

// endPart takes the end of a part. It gives the holding of a majority that ends with it, or nil. Somebody else may have ended it, or a
// master may have forgotten it.
func (a *Account) endNodeHolding(part *Holding) *Holding {
	whole := ongoingHolding(a.Holdings, part.Holder)
	if whole == nil {
		return nil
	}
	if whole.lastLostPart == nil || !part.To.Before(whole.lastLostPart.To) {
		whole.lastLostPart = part
	}
	if len(ongoingHoldings(a.NodeHoldings, part.Holder)) != a.nodeCount/2 {
		return nil
	}
	last := whole.lastLostPart // several may have expired at once, and be noticed in another order
	whole.To, whole.End, whole.EndedBy, whole.TTL = last.To, last.End, last.EndedBy, last.TTL
	kinds := map[HoldingEnd]FindingKind{RemovedByOther: RemovedLock, OverwrittenByOther: OverwroteLock, LostByRedis: RedisLostLock}
	if kind, ok := kinds[whole.End]; ok {
		a.report(Finding{Kind: kind, At: whole.To, Subject: whole.EndedBy, Other: whole.Holder, Node: last.Node})
	}
	return whole
}

func ongoingHoldings(holdings []*Holding, holder string) (all []*Holding) {
	for _, h := range holdings {
		if h.Holder == holder && h.End == Ongoing {
			all = append(all, h)
		}
	}
	return all
}

// wholeOf is the holding of a majority that goes on; nil if the holder has none.
func ongoingHolding(holdings []*Holding, holder string) *Holding {
	for _, h := range slices.Backward(holdings) {
		if h.Holder == holder && h.End == Ongoing {
			return h
		}
	}
	return nil
}
