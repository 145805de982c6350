package witness

import (
	"slices"
	"time"
)

// Span is a period of time: it includes From but not To.
type Span struct {
	From time.Time // start
	To   time.Time // zero: the span has not ended
}

// Contains reports whether a time is in the span.
func (s Span) Contains(at time.Time) bool {
	return !at.Before(s.From) && (s.To.IsZero() || at.Before(s.To))
}

// Intersect returns the common part of two spans. If there is none, the result has no positive length.
func (s Span) Intersect(other Span) Span {
	return Span{laterOf(s.From, other.From), EarlierOf(s.To, other.To)}
}

// Length returns the length of a span that has ended.
func (s Span) Length() time.Duration { return s.To.Sub(s.From) }

// EarlierOf returns the earlier of two times. A zero time is ignored.
func EarlierOf(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// laterOf returns the later of two times.
func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Holding is a period in which the lock truly belonged to one holder, according to Redis, as far as replies show it.
type Holding struct {
	Span

	Holder  string     // sale, or replica whose sales share the holding one after the other
	End     HoldingEnd // how the holding ended
	EndedBy string     // sale or Redis that ended the holding; empty: the lock expired, or the cause is unknown
	TTL     Millis     // latest expiry that was set; 0: the lock never expires
	Node    int        // 1-based Redlock master, for a holding on one master; 0: the only Redis, or a majority
	Segment int        // 1-based stock segment that the lock guards; 0: the whole stock

	ttlSetAt     time.Time // earliest time at which TTL may have taken effect: when the command was sent
	lastLostPart *Holding  // for the holding of a majority: its holding on one master that ended last; nil: none has ended
}

// HoldingEnd is the way in which a holding ended.
type HoldingEnd string

// The ways in which a holding ends.
const (
	Ongoing            HoldingEnd = ""            // the holding has not ended
	GivenBack          HoldingEnd = "given-back"  // the holder released the lock
	Expired            HoldingEnd = "expired"     // the lock expired
	RemovedByOther     HoldingEnd = "removed"     // another owner removed the lock
	OverwrittenByOther HoldingEnd = "overwritten" // another owner overwrote the lock
	LostByRedis        HoldingEnd = "forgotten"   // Redis lost the key
	Vanished           HoldingEnd = "gone"        // the lock is gone, and no known command ended the holding
)

// ExpiryDeadline returns the earliest time at which the lock expires unless it is renewed; zero if it never expires.
func (h *Holding) ExpiryDeadline() time.Time {
	if h.TTL == 0 {
		return time.Time{}
	}
	return h.ttlSetAt.Add(time.Duration(h.TTL))
}

// EndTime returns when a holding ended, or zero if it lasts. A holding whose deadline has passed at now counts as expired, even if no
// command has shown that.
func (h *Holding) EndTime(now time.Time) time.Time {
	if h.End == Ongoing && h.isExpiredAt(now) {
		return h.ExpiryDeadline()
	}
	return h.To
}

// BelongsTo reports whether the holder is this sale or its replica.
func (h *Holding) BelongsTo(sale string) bool { return isHeldBy(h.Holder, sale) }

// isExpiredAt reports whether the deadline has passed at a time.
func (h *Holding) isExpiredAt(at time.Time) bool { return h.TTL > 0 && !at.Before(h.ExpiryDeadline()) }

// addHolding inserts h in order of its start. A holding on one node counts only once it completes a majority.
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

// endHolding handles the end of a holding. An expiry is detected only some time later. By then, a sale that was in the critical section at
// the expiry may have written.
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

// A lock on several masters consists of a holding on each. Whoever has a majority of them is the holder.

// addNodeHolding adds a holding on one master. It returns the holding of a majority that begins with it, or nil.
func (a *Account) addNodeHolding(part *Holding) *Holding {
	a.NodeHoldings = append(a.NodeHoldings, part)
	parts := ongoingHoldings(a.NodeHoldings, part.Holder)
	if len(parts) != a.nodeCount/2+1 {
		return nil
	}
	whole := *part
	whole.Node = 0
	for _, p := range parts {
		whole.From = laterOf(whole.From, p.From)
	}
	return &whole
}

// renewMajority copies a renewed expiry to the majority's holding.
func (a *Account) renewMajority(part *Holding) {
	if whole := ongoingHolding(a.Holdings, part.Holder); whole != nil {
		whole.TTL, whole.ttlSetAt = part.TTL, part.ttlSetAt
	}
}

// endNodeHolding handles the end of a holding on one master. It returns the holding of a majority that ends with it, or nil, and reports a
// finding if another owner or the loss of a key ended it.
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
	last := whole.lastLostPart // several parts may have expired at once, and replies may show their ends in another order
	whole.To, whole.End, whole.EndedBy, whole.TTL = last.To, last.End, last.EndedBy, last.TTL
	kinds := map[HoldingEnd]FindingKind{RemovedByOther: RemovedLock, OverwrittenByOther: OverwroteLock, LostByRedis: RedisLostLock}
	if kind, ok := kinds[whole.End]; ok {
		a.report(Finding{Kind: kind, At: whole.To, Subject: whole.EndedBy, Other: whole.Holder, Node: last.Node})
	}
	return whole
}

// ongoingHoldings returns the ongoing holdings of a holder.
func ongoingHoldings(holdings []*Holding, holder string) (all []*Holding) {
	for _, h := range holdings {
		if h.Holder == holder && h.End == Ongoing {
			all = append(all, h)
		}
	}
	return all
}

// ongoingHolding returns the latest ongoing holding of a holder; nil if there is none.
func ongoingHolding(holdings []*Holding, holder string) *Holding {
	for _, h := range slices.Backward(holdings) {
		if h.Holder == holder && h.End == Ongoing {
			return h
		}
	}
	return nil
}
