package witness

import (
	"slices"
	"time"
)

// Holding is the time in which the lock was one holder's in truth: as Redis saw it, as far as the replies tell.
type Holding struct {
	Span

	Holder string // a sale, or a replica whose sales have it one after the other
	End    End
	By     string // who ended it; "" if it expired
	Lasts  Millis // expiry as it was set last; 0: none
	Node   int    // where, if it is that of a master alone, from 1 on

	set  time.Time // when it was set last, at the earliest
	lost *Holding  // of a majority: the part that it lost last
}

// End is how a holding ended.
type End string

// The ends.
const (
	Lasting   End = ""
	GivenBack End = "given-back"
	Expired   End = "expired"
	Taken     End = "removed"     // somebody else removed it
	Replaced  End = "overwritten" // somebody else wrote over it
	Forgotten End = "forgotten"   // Redis lost it
	Gone      End = "gone"        // nobody is known to have ended it
)

// Expires is when the lock expires unless it is renewed, at the earliest; zero if it never does.
func (h *Holding) Expires() time.Time {
	if h.Lasts == 0 {
		return time.Time{}
	}
	return h.set.Add(time.Duration(h.Lasts))
}

// Ended is when a holding did by now: also if it has expired, though nobody has noticed. Zero if it goes on.
func (h *Holding) Ended(now time.Time) time.Time {
	if h.End == Lasting && h.expiredBy(now) {
		return h.Expires()
	}
	return h.To
}

// Is reports whether the lock was this sale's: by its own name, or by that of its replica.
func (h *Holding) Is(sale string) bool { return isOf(h.Holder, sale) }

// expiredBy reports whether a holding may have expired by then.
func (h *Holding) expiredBy(at time.Time) bool { return h.Lasts > 0 && !at.Before(h.Expires()) }

// addHolding takes the beginning of a holding on a Redis.
func (a *Account) addHolding(h *Holding) {
	if h.Node > 0 {
		if h = a.addPart(h); h == nil {
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
		h = a.endPart(h)
	}
	if h == nil || h.End != Expired {
		return
	}
	a.overdue = append(a.overdue, h)
	for _, s := range a.Sales {
		if h.Is(s.Name) && s.wrote.After(h.To) {
			a.wroteLate(s, h)
		}
	}
}
