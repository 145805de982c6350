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

const (
	maxLanes        = 30
	maxRailHoldings = 60
	maxMarks        = 8 // of a lane
	maxWaiters      = 100
	lanesInterval   = 500 * time.Millisecond // after which lanes are made anew while sales go on
)

// isMoving reports whether the picture changes though nothing has happened.
func (s *scene) needsLanes(now time.Time) bool {
	return len(s.account.ActiveSales) > 0 && now.Sub(s.lanesMadeAt) >= lanesInterval
}

func (s *scene) lanes(now time.Time) localized {
	s.hasNews, s.lanesMadeAt = false, now
	frame := LanesFrame{Now: s.millis(now), Rail: s.rail(now), Queue: s.queue(), More: len(s.account.ActiveSales)}
	chosen := s.salesWithLanes()
	for _, one := range chosen {
		if one.EndedAt.IsZero() {
			frame.More--
		}
	}
	return localize(func(in language.Language) any {
		frame.Sales = []Lane{}
		for _, one := range chosen {
			frame.Sales = append(frame.Sales, Lane{
				Name: one.Name, Replica: one.Replica, Spans: s.laneSpans(one, now), End: laneEnd(one), Marks: s.findings.marks(one.Name, in),
			})
		}
		return frame
	})
}

// chosen are the sales that get a lane: those inside, and then those to whom something has happened last; in the order in which they asked.
func (s *scene) salesWithLanes() []*witness.Sale {
	ranked := slices.DeleteFunc(slices.Clone(s.account.Sales), func(one *witness.Sale) bool { return one.AskedAt.IsZero() })
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

// endOf gives what a sale's lane ends with: "sold", "died", or the code of an error; "" while it goes on.
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

// spans are what a sale does, one after the other: they are cut where something begins or ends.
func (s *scene) laneSpans(one *witness.Sale, now time.Time) []Span {
	end := one.LeftAt
	if one.ObtainedAt.IsZero() {
		end = one.EndedAt
	}
	late, stops := s.lostLockAt(one, now), s.stopsOf(one.Replica)
	cuts := []time.Time{one.AskedAt, one.ObtainedAt, late, end}
	for _, stop := range stops {
		cuts = append(cuts, stop.From, stop.To)
	}
	whole := witness.Span{From: one.AskedAt, To: end}
	cuts = slices.DeleteFunc(cuts, func(at time.Time) bool { return at.IsZero() || !whole.Contains(at) })
	slices.SortFunc(cuts, time.Time.Compare)
	cuts = slices.CompactFunc(cuts, time.Time.Equal)
	spans := []Span{}
	for i, from := range cuts {
		span := Span{Kind: SpanCritical, From: s.millis(from), To: s.optionalMillis(append(cuts, end)[i+1])}
		switch {
		case slices.ContainsFunc(stops, func(stop witness.Stop) bool { return stop.Contains(from) }):
			span.Kind = SpanPaused
		case one.ObtainedAt.IsZero() || from.Before(one.ObtainedAt):
			span.Kind = SpanWaiting
		case !late.IsZero() && !from.Before(late):
			span.Kind = SpanLate
		}
		spans = append(spans, span)
	}
	return spans
}

func (s *scene) stopsOf(replica string) []witness.Stop {
	return slices.DeleteFunc(slices.Clone(s.account.Stops), func(stop witness.Stop) bool { return stop.Replica != replica })
}

// lateFrom is when a sale's lock ended while it still believed that it held it; zero if it did not.
func (s *scene) lostLockAt(one *witness.Sale, now time.Time) (late time.Time) {
	if one.ObtainedAt.IsZero() {
		return late
	}
	until := cmp.Or(one.LeftAt, now)
	for _, h := range s.account.Holdings {
		if !h.BelongsTo(one.Name) || h.Segment != one.Segment || h.From.After(until) {
			continue
		}
		if late = h.EndTime(now); h.End == witness.GivenBack || !late.Before(until) || late.Before(one.ObtainedAt) {
			late = time.Time{}
		}
	}
	return late
}

func (s *scene) rail(now time.Time) []RailHolding {
	holdings := s.account.Holdings
	return s.railHoldings(holdings[max(0, len(holdings)-maxRailHoldings):], now)
}

func (s *scene) railHoldings(holdings []*witness.Holding, now time.Time) []RailHolding {
	stays := []RailHolding{}
	for _, h := range holdings {
		stay := RailHolding{
			Holder: h.Holder, Replica: witness.ReplicaOf(h.Holder), Segment: h.Segment, From: s.millis(h.From), End: string(h.End), EndedBy: h.EndedBy,
			Expires: s.optionalMillis(h.ExpiryDeadline()),
		}
		if stay.To = s.optionalMillis(h.EndTime(now)); stay.To != nil {
			stay.End = string(cmp.Or(h.End, witness.Expired))
		}
		stays = append(stays, stay)
	}
	return stays
}

func (s *scene) queue() []Waiter {
	queue := []Waiter{}
	for _, one := range s.account.ActiveSales {
		if one.IsWaiting() && len(queue) < maxWaiters {
			queue = append(queue, Waiter{Sale: one.Name, Replica: one.Replica})
		}
	}
	return queue
}
