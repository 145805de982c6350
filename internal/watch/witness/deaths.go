package witness

import (
	"slices"
	"time"
)

// gone is what a replica that died leaves to the others: its lock, or its place in the queue.
type gone struct {
	by     string // the holder; of a place, the first sale that waited there
	at     time.Time
	queued time.Time // of a place: since when the replica had it
	holder bool
}

// places notes who has a place in the queue, and when the first of it is to have the lock.
func (a *Account) places(event Event) {
	switch c := event.Command; {
	case c.Verb == Takes && c.Outcome == Refused:
		if a.queued[event.Replica].IsZero() {
			a.queued[event.Replica] = event.Replied
		}
	case c.Verb == Removes:
		delete(a.queued, event.Replica)
		if c.Outcome == Passed {
			a.released = event.Replied
		}
	}
}

// markDead notes what a replica leaves. Its next process begins anew, with sales of old names.
func (a *Account) markDead(event Event) {
	left := gone{at: event.Replied, queued: a.queued[event.Replica]}
	for _, h := range a.Holdings {
		if ReplicaOf(h.Holder) == event.Replica && h.Covers(event.Replied) && (h.End != Lasting || !h.expiredBy(event.Replied)) {
			left.by, left.holder = h.Holder, true
		}
	}
	for _, s := range a.Going {
		switch {
		case s.Replica != event.Replica:
		case left.by == event.Replica && !s.Obtained.IsZero(), left.by == "" && s.Waits() && !left.queued.IsZero():
			left.by = s.Name
		}
	}
	if left.by != "" {
		a.gone = append(a.gone, left)
	}
	delete(a.queued, event.Replica)
}

// adopt is for a sale that has waited for its turn: perhaps for that of one that is gone, too.
func (a *Account) adopt(s *Sale, event Event) {
	queued, is := a.queued[event.Replica]
	if !is { // it had the lock at once
		queued = s.Asked
	}
	delete(a.queued, event.Replica)
	a.gone = slices.DeleteFunc(a.gone, func(g gone) bool {
		since, kind := later(g.at, s.Asked), DiedHolding
		if !g.holder {
			if !a.released.After(g.queued) || !queued.After(g.queued) {
				return false // it came in before its turn, or was ahead of it
			}
			since, kind = later(a.released, s.Asked), PassedOver
		}
		f := Finding{Kind: kind, At: event.Replied, By: g.by, Of: s.Name, For: Millis(event.Replied.Sub(since))}
		switch {
		case time.Duration(f.For) > longWait:
			a.find(f)
		case !g.holder:
			f.Kind, f.For = PlaceExpired, 0
			a.find(f)
		}
		return true
	})
	a.released = time.Time{}
}
