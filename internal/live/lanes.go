package live

import (
	"cmp"
	"slices"
	"time"

	"lockstep/internal/api/answer"
	"lockstep/internal/language"
	"lockstep/internal/service/reason"
	"lockstep/internal/witness"
)

// Bounds of a lanes frame: a screen cannot show more.
const (
	maxLanes        = 30                     // largest number of lanes
	maxRailHoldings = 60                     // largest number of holdings
	maxMarks        = 8                      // largest number of marks of a lane
	maxWaiters      = 100                    // largest number of waiting sales
	lanesInterval   = 500 * time.Millisecond // interval at which the lanes are resent while sales are active
)

// hasStaleLanes reports whether the lanes must be sent again although nothing has happened, because spans grow.
func (s *scene) hasStaleLanes(now time.Time) bool {
	return len(s.account.ActiveSales) > 0 && now.Sub(s.lanesMadeAt) >= lanesInterval
}

// lanes returns the lanes frame at now, and records that the frame was made.
func (s *scene) lanes(now time.Time) localized {
	s.hasNews, s.lanesMadeAt = false, now
	frame := LanesFrame{Now: s.millis(now), Rail: s.rail(now), Queue: s.queue(), More: len(s.account.ActiveSales)}
	sales := s.salesWithLanes()
	for _, sale := range sales {
		if sale.EndedAt.IsZero() {
			frame.More--
		}
	}
	return localize(func(in language.Language) any {
		frame.Sales = []Lane{}
		for _, sale := range sales {
			frame.Sales = append(frame.Sales, Lane{
				Name: sale.Name, Replica: sale.Replica, Spans: s.laneSpans(sale, now), End: laneEnd(sale), Marks: s.findings.marks(sale.Name, in),
			})
		}
		return frame
	})
}

// salesWithLanes returns the sales that get a lane, at most maxLanes, in the order in which they asked for the lock. It prefers sales in
// the critical section, and then sales with the latest events.
func (s *scene) salesWithLanes() []*witness.Sale {
	ranked := slices.DeleteFunc(slices.Clone(s.account.Sales), func(sale *witness.Sale) bool { return sale.AskedAt.IsZero() })
	slices.SortStableFunc(ranked, func(a, b *witness.Sale) int {
		switch {
		case a.InCriticalSection() == b.InCriticalSection():
			return b.LastEventAt.Compare(a.LastEventAt)
		case a.InCriticalSection():
			return -1
		default:
			return 1
		}
	})
	ranked = ranked[:min(len(ranked), maxLanes)]
	slices.SortStableFunc(ranked, func(a, b *witness.Sale) int { return cmp.Or(a.AskedAt.Compare(b.AskedAt), cmp.Compare(a.Name, b.Name)) })
	return ranked
}

// laneEnd returns how a sale's lane ends: "sold", "died" or an error code; empty while the sale goes on.
func laneEnd(s *witness.Sale) string {
	switch {
	case s.EndedAt.IsZero():
		return ""
	case s.Died:
		return "died"
	case s.Error == "":
		return "sold"
	default:
		_, code := answer.StatusOf(reason.WithCode(s.Code).Err)
		return code
	}
}

// laneSpans returns the spans of a sale. A span ends where the next one, of another kind, begins.
func (s *scene) laneSpans(sale *witness.Sale, now time.Time) []Span {
	end := sale.LeftAt
	if sale.ObtainedAt.IsZero() {
		end = sale.EndedAt
	}
	late, stops := s.lostLockAt(sale, now), s.stopsOf(sale.Replica)
	cuts := []time.Time{sale.AskedAt, sale.ObtainedAt, late, end}
	for _, stop := range stops {
		cuts = append(cuts, stop.From, stop.To)
	}
	whole := witness.Span{From: sale.AskedAt, To: end}
	cuts = slices.DeleteFunc(cuts, func(at time.Time) bool { return at.IsZero() || !whole.Contains(at) })
	slices.SortFunc(cuts, time.Time.Compare)
	cuts = slices.CompactFunc(cuts, time.Time.Equal)
	spans := []Span{}
	for i, from := range cuts {
		span := Span{Kind: SpanCritical, From: s.millis(from), To: s.optionalMillis(append(cuts, end)[i+1])}
		switch {
		case slices.ContainsFunc(stops, func(stop witness.Stop) bool { return stop.Contains(from) }):
			span.Kind = SpanPaused
		case sale.ObtainedAt.IsZero() || from.Before(sale.ObtainedAt):
			span.Kind = SpanWaiting
		case !late.IsZero() && !from.Before(late):
			span.Kind = SpanLate
		}
		spans = append(spans, span)
	}
	return spans
}

// stopsOf returns the stops of a replica.
func (s *scene) stopsOf(replica string) []witness.Stop {
	return slices.DeleteFunc(slices.Clone(s.account.Stops), func(stop witness.Stop) bool { return stop.Replica != replica })
}

// lostLockAt returns the time at which a sale's lock ended while the sale still believed that it held the lock; zero if there was no such
// time.
func (s *scene) lostLockAt(sale *witness.Sale, now time.Time) (late time.Time) {
	if sale.ObtainedAt.IsZero() {
		return late
	}
	until := cmp.Or(sale.LeftAt, now)
	for _, h := range s.account.Holdings {
		if !h.BelongsTo(sale.Name) || h.Segment != sale.Segment || h.From.After(until) {
			continue
		}
		if late = h.EndTime(now); h.End == witness.GivenBack || !late.Before(until) || late.Before(sale.ObtainedAt) {
			late = time.Time{}
		}
	}
	return late
}

// rail returns the latest holdings, at most maxRailHoldings.
func (s *scene) rail(now time.Time) []RailHolding {
	holdings := s.account.Holdings
	return s.railHoldings(holdings[max(0, len(holdings)-maxRailHoldings):], now)
}

// railHoldings returns holdings in the form in which they are sent.
func (s *scene) railHoldings(holdings []*witness.Holding, now time.Time) []RailHolding {
	rail := []RailHolding{}
	for _, h := range holdings {
		shown := RailHolding{
			Holder: h.Holder, Replica: witness.ReplicaOf(h.Holder), Segment: h.Segment, From: s.millis(h.From), End: string(h.End),
			EndedBy: h.EndedBy, Expires: s.optionalMillis(h.ExpiryDeadline()),
		}
		if shown.To = s.optionalMillis(h.EndTime(now)); shown.To != nil {
			shown.End = string(cmp.Or(h.End, witness.Expired))
		}
		rail = append(rail, shown)
	}
	return rail
}

// queue returns the first waiting sales, at most maxWaiters.
func (s *scene) queue() []Waiter {
	queue := []Waiter{}
	for _, sale := range s.account.ActiveSales {
		if sale.IsWaiting() && len(queue) < maxWaiters {
			queue = append(queue, Waiter{Sale: sale.Name, Replica: sale.Replica})
		}
	}
	return queue
}
