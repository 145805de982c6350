package witness

import "time"

// Span is a stretch of time.
type Span struct {
	From time.Time
	To   time.Time // zero: it goes on
}

// Covers reports whether a moment is in the span. Its end is not.
func (s Span) Covers(at time.Time) bool {
	return !at.Before(s.From) && (s.To.IsZero() || at.Before(s.To))
}

// And gives what two spans have in common: nothing, if its length is not positive.
func (s Span) And(other Span) Span { return Span{later(s.From, other.From), Earlier(s.To, other.To)} }

// Len is how long a span that has an end was.
func (s Span) Len() time.Duration { return s.To.Sub(s.From) }

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
