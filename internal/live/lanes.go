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
	mostLanes = 30
	mostStays = 60
	mostMarks = 8 // of a lane
	mostQueue = 100
	stillTime = 500 * time.Millisecond // after which lanes are made anew while sales go on
)

// isMoving reports whether the picture changes though nothing has happened.
func (s *scene) isMoving(now time.Time) bool {
	return len(s.account.ActiveSales) > 0 && now.Sub(s.moved) >= stillTime
}

func (s *scene) lanes(now time.Time) texts {
	s.news, s.moved = false, now
	frame := LanesFrame{Now: s.at(now), Rail: s.rail(now), Queue: s.queue(), More: len(s.account.ActiveSales)}
	chosen := s.chosen()
	for _, one := range chosen {
		if one.EndedAt.IsZero() {
			frame.More--
		}
	}
	return inAll(func(in language.Language) any {
		frame.Sales = []Lane{}
		for _, one := range chosen {
			frame.Sales = append(frame.Sales, Lane{
				Name: one.Name, Replica: one.Replica, Spans: s.spans(one, now), End: endOf(one), Marks: s.found.marks(one.Name, in),
			})
		}
		return frame
	})
}

// chosen are the sales that get a lane: those inside, and then those to whom something has happened last; in the order in which they asked.
func (s *scene) chosen() []*witness.Sale {
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
	ranked = ranked[:min(len(ranked), mostLanes)]
	slices.SortStableFunc(ranked, func(a, b *witness.Sale) int { return cmp.Or(a.AskedAt.Compare(b.AskedAt), cmp.Compare(a.Name, b.Name)) })
	return ranked
}

// endOf gives what a sale's lane ends with: "sold", "died", or the code of an error; "" while it goes on.
func endOf(s *witness.Sale) string {
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
func (s *scene) spans(one *witness.Sale, now time.Time) []Span {
	end := one.LeftAt
	if one.ObtainedAt.IsZero() {
		end = one.EndedAt
	}
	late, stops := s.lateFrom(one, now), s.stopsOf(one.Replica)
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
		span := Span{Kind: SpanCritical, From: s.at(from), To: s.maybeAt(append(cuts, end)[i+1])}
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
func (s *scene) lateFrom(one *witness.Sale, now time.Time) (late time.Time) {
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
	return s.shownStays(holdings[max(0, len(holdings)-mostStays):], now)
}

func (s *scene) shownStays(holdings []*witness.Holding, now time.Time) []RailHolding {
	stays := []RailHolding{}
	for _, h := range holdings {
		stay := RailHolding{
			Holder: h.Holder, Replica: witness.ReplicaOf(h.Holder), Segment: h.Segment, From: s.at(h.From), End: string(h.End), EndedBy: h.EndedBy,
			Expires: s.maybeAt(h.ExpiryDeadline()),
		}
		if stay.To = s.maybeAt(h.EndTime(now)); stay.To != nil {
			stay.End = string(cmp.Or(h.End, witness.Expired))
		}
		stays = append(stays, stay)
	}
	return stays
}

func (s *scene) queue() []Waiter {
	queue := []Waiter{}
	for _, one := range s.account.ActiveSales {
		if one.IsWaiting() && len(queue) < mostQueue {
			queue = append(queue, Waiter{Sale: one.Name, Replica: one.Replica})
		}
	}
	return queue
}
