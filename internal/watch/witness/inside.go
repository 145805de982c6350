package witness

import (
	"slices"
	"time"
)

// Inside is the time in which a sale believed that it held the lock: from when it obtained it until it began to give it back, was told that
// it was lost, or died.
type Inside struct {
	Span

	Sale string
	Met  []string // who was inside meanwhile, when it ended: the first few
	With int      // how many were
}

const mostMet = 3

// enter takes a sale in. Calls may be nested.
func (a *Account) enter(s *Sale, at time.Time) {
	s.depth = max(s.depth, 0) + 1
	if s.inside != nil {
		return
	}
	if s.Obtained.IsZero() {
		s.Obtained = at
	}
	s.inside = &Inside{Span: Span{From: at}, Sale: s.Name}
	a.Insides = append(a.Insides, s.inside)
	if a.inside++; a.inside == 1 && a.last != nil && !s.Asked.IsZero() { // a run of a job asks for nothing: it waits for its tick
		if d := at.Sub(later(a.last.To, s.Asked)); d > longWait {
			a.find(Finding{Kind: Idle, At: at, By: s.Name, Of: a.last.Sale, For: Millis(d)})
		}
	}
}

// exit takes it out, and finds with whom it was inside together: with those that are still there, when they leave.
func (a *Account) exit(s *Sale, at time.Time) {
	i := s.inside
	s.depth = 0
	if i == nil {
		return
	}
	i.To, s.inside = at, nil
	if s.Left.IsZero() {
		s.Left = at
	}
	a.Left = append(a.Left, i)
	a.inside--
	if a.last == nil || !at.Before(a.last.To) { // or its replica tells late
		a.last = i
	}
	if a.limits.Shared {
		return
	}
	for _, other := range a.Insides {
		both := i.And(other.Span)
		if other == i || both.Len() <= 0 {
			continue
		}
		if i.With++; len(i.Met) < mostMet {
			i.Met = append(i.Met, other.Sale)
		}
		if !other.To.IsZero() {
			a.find(together(i, other, both))
		}
	}
}

// together is the finding that two were inside at the same time.
func together(a, b *Inside, both Span) Finding {
	if b.From.Before(a.From) || b.From.Equal(a.From) && b.Sale < a.Sale {
		a, b = b, a
	}
	return Finding{Kind: Together, At: both.From, By: a.Sale, Of: b.Sale, For: Millis(both.Len())}
}

// overlapping finds the pairs of which one is still inside; at most so many.
func (a *Account) overlapping(now time.Time, most int) (found []Finding) {
	if a.limits.Shared {
		return nil
	}
	for at, one := range a.Insides {
		if !one.To.IsZero() {
			continue
		}
		for place, other := range a.Insides {
			both := one.And(other.Span).And(Span{To: now})
			if both.Len() <= 0 || other == one || place < at && other.To.IsZero() { // those are found already
				continue
			}
			if found = append(found, together(other, one, both)); len(found) == most {
				return found
			}
		}
	}
	return found
}

// InsideAt gives the latest sale of a replica that was inside at a moment; "" if there was none.
func (a *Account) InsideAt(replica string, at time.Time) string {
	for _, i := range slices.Backward(a.Insides) {
		if ReplicaOf(i.Sale) == replica && (i.Covers(at) || at.Equal(i.To)) {
			return i.Sale
		}
	}
	return ""
}

// expiredAtWork finds the sales that were inside when their lock expired, and stayed there.
func expiredAtWork(insides []*Inside, h *Holding) (found []Finding) {
	for _, i := range insides {
		if h.Is(i.Sale) && i.Covers(h.To) && i.Covers(h.To.Add(aMoment)) {
			found = append(found, Finding{Kind: ExpiredAtWork, At: h.To, By: i.Sale, For: h.Lasts})
		}
	}
	return found
}
