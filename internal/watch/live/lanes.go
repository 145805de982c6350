package live

import (
	"cmp"
	"slices"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/service/reason"
	"lockstep/internal/shop/api"
	"lockstep/internal/watch/witness"
)

const (
	mostLanes = 30
	mostStays = 60
	mostMarks = 8 // of a lane
	mostQueue = 100
	stillTime = 500 * time.Millisecond // after which lanes are made anew while sales go on
)

// moves reports whether the picture changes though nothing has happened.
func (s *scene) moves(now time.Time) bool {
	return len(s.account.Going) > 0 && now.Sub(s.moved) >= stillTime
}

// lanes are the latest sales.
func (s *scene) lanes(now time.Time) func(language.Language) any {
	s.news, s.moved = false, now
	frame := LanesFrame{Now: s.at(now), Sales: []Lane{}, Rail: s.rail(now), Queue: s.queue(), More: len(s.account.Going)}
	var marks [][]*finding
	for _, one := range s.chosen() {
		frame.Sales = append(frame.Sales, Lane{
			Name: one.Name, Replica: one.Replica, Spans: s.spans(one, now), Ended: endOf(one), Marks: []Mark{},
		})
		marks = append(marks, s.found.marks(one.Name))
		if one.Ended.IsZero() {
			frame.More--
		}
	}
	return func(in language.Language) any {
		inWords := frame
		inWords.Sales = slices.Clone(frame.Sales)
		for i := range inWords.Sales {
			for _, m := range marks[i] {
				inWords.Sales[i].Marks = append(inWords.Sales[i].Marks, Mark{At: m.at, Says: m.says(in), Bad: m.bad})
			}
		}
		return inWords
	}
}

// chosen are the sales that get a lane: those inside, and then those to whom something has happened last; in the order in which they asked.
func (s *scene) chosen() []*witness.Sale {
	ranked := slices.DeleteFunc(slices.Clone(s.account.Sales), func(one *witness.Sale) bool { return one.Asked.IsZero() })
	slices.SortStableFunc(ranked, func(a, b *witness.Sale) int {
		switch {
		case a.IsInside() == b.IsInside():
			return b.Latest.Compare(a.Latest)
		case a.IsInside():
			return -1
		default:
			return 1
		}
	})
	ranked = ranked[:min(len(ranked), mostLanes)]
	slices.SortStableFunc(ranked, func(a, b *witness.Sale) int { return cmp.Or(a.Asked.Compare(b.Asked), cmp.Compare(a.Name, b.Name)) })
	return ranked
}

// endOf gives what a sale's lane ends with: "sold", "died", or the code of an error; "" while it goes on.
func endOf(s *witness.Sale) string {
	switch {
	case s.Ended.IsZero():
		return ""
	case s.Died:
		return "died"
	case s.Error == "":
		return "sold"
	default:
		_, code := api.StatusOf(reason.Of(s.Error).Err) // of the error, the event has only the text
		return code
	}
}

// spans are what a sale does, one after the other.
func (s *scene) spans(one *witness.Sale, now time.Time) []Span {
	spans := []Span{}
	add := func(kind SpanKind, from, to time.Time) {
		if !to.IsZero() && !to.After(from) {
			return
		}
		spans = append(spans, s.split(one, Span{Kind: kind}, from, to)...)
	}
	add(Waits, one.Asked, earliest(one.Obtained, one.Ended))
	if one.Obtained.IsZero() {
		return spans
	}
	late := s.lateFrom(one, now)
	if late.IsZero() {
		add(Inside, one.Obtained, one.Left)
		return spans
	}
	add(Inside, one.Obtained, late)
	add(Late, late, one.Left)
	return spans
}

// split cuts out the times in which the sale's replica is stopped.
func (s *scene) split(one *witness.Sale, span Span, from, to time.Time) (spans []Span) {
	piece := func(kind SpanKind, from, to time.Time) {
		p := Span{Kind: kind, From: s.at(from)}
		if !to.IsZero() {
			end := s.at(to)
			p.To = &end
		}
		spans = append(spans, p)
	}
	for _, stop := range s.account.Stops {
		begin, end := latest(stop.From, from), earliest(stop.To, to)
		if stop.Replica != one.Replica || !to.IsZero() && !begin.Before(to) || !end.IsZero() && !end.After(begin) {
			continue
		}
		if begin.After(from) {
			piece(span.Kind, from, begin)
		}
		piece(Stopped, begin, end)
		if from = end; end.IsZero() {
			return spans
		}
	}
	if to.IsZero() || to.After(from) {
		piece(span.Kind, from, to)
	}
	return spans
}

// lateFrom is when a sale's lock ended while it still believed that it held it; zero if it did not.
func (s *scene) lateFrom(one *witness.Sale, now time.Time) (late time.Time) {
	until := one.Left
	if until.IsZero() {
		until = now
	}
	for _, h := range s.account.Holdings {
		if !h.Is(one.Name) || h.From.After(until) {
			continue
		}
		if late = ended(h, now); h.End == witness.GivenBack || !late.Before(until) || late.Before(one.Obtained) {
			late = time.Time{}
		}
	}
	return late
}

// ended is when a holding did: also of one that has expired, though nobody has noticed. Zero if it goes on.
func ended(h *witness.Holding, now time.Time) time.Time {
	if h.End != witness.Lasting {
		return h.To
	}
	if expires := h.Expires(); !expires.IsZero() && !expires.After(now) {
		return expires
	}
	return time.Time{}
}

// rail is whose the lock was in truth.
func (s *scene) rail(now time.Time) []Stay {
	holdings := s.account.Holdings
	stays := []Stay{}
	for _, h := range holdings[max(0, len(holdings)-mostStays):] {
		stay := Stay{Holder: h.Holder, From: s.at(h.From), End: string(h.End), By: h.By}
		if end := ended(h, now); !end.IsZero() {
			to := s.at(end)
			stay.To, stay.End = &to, string(cmp.Or(h.End, witness.Expired))
		}
		if expires := h.Expires(); !expires.IsZero() {
			at := s.at(expires)
			stay.Expires = &at
		}
		stays = append(stays, stay)
	}
	return stays
}

// queue are those who wait.
func (s *scene) queue() []Waiter {
	queue := []Waiter{}
	for _, one := range s.account.Going {
		if one.Waits() && len(queue) < mostQueue {
			queue = append(queue, Waiter{Sale: one.Name, Replica: one.Replica})
		}
	}
	return queue
}

// earliest is the earlier of two times; zero is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
