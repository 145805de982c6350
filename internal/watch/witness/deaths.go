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

// queue is who waits for the lock in Redis, one after the other, as far as commands tell.
type queue struct {
	queued   map[string]time.Time // replicas that asked for the lock in vain, since when
	gone     []gone
	released time.Time // when a replica handed the lock to the first in the queue, and nobody has come in since
}

// record notes who has a place in the queue, and when the first of it is to have the lock.
func (q *queue) record(event Event) {
	switch c := event.Command; {
	case c.Verb == Takes && c.Outcome == Refused:
		if q.queued[event.Replica].IsZero() {
			q.queued[event.Replica] = event.Replied
		}
	case c.Verb == Removes:
		delete(q.queued, event.Replica)
		if c.Outcome == Passed {
			q.released = event.Replied
		}
	}
}

// markDead notes what a replica leaves, of all holdings and of the sales that go on. Its next process begins anew, with sales of old names.
func (q *queue) markDead(event Event, holdings []*Holding, going []*Sale) {
	left := gone{at: event.Replied, queued: q.queued[event.Replica]}
	for _, h := range holdings {
		if ReplicaOf(h.Holder) == event.Replica && h.Covers(event.Replied) && (h.End != Lasting || !h.expiredBy(event.Replied)) {
			left.by, left.holder = h.Holder, true
		}
	}
	for _, s := range going {
		switch {
		case s.Replica != event.Replica:
		case left.by == event.Replica && !s.Obtained.IsZero(), left.by == "" && s.Waits() && !left.queued.IsZero():
			left.by = s.Name
		}
	}
	if left.by != "" {
		q.gone = append(q.gone, left)
	}
	delete(q.queued, event.Replica)
}

// adopt is for a sale that has waited for its turn: perhaps for that of one that is gone, too.
func (q *queue) adopt(s *Sale, event Event) (found []Finding) {
	queued, is := q.queued[event.Replica]
	if !is { // it had the lock at once
		queued = s.Asked
	}
	delete(q.queued, event.Replica)
	q.gone = slices.DeleteFunc(q.gone, func(g gone) bool {
		since, kind := later(g.at, s.Asked), DiedHolding
		if !g.holder {
			if !q.released.After(g.queued) || !queued.After(g.queued) {
				return false // it came in before its turn, or was ahead of it
			}
			since, kind = later(q.released, s.Asked), PassedOver
		}
		f := Finding{Kind: kind, At: event.Replied, By: g.by, Of: s.Name, For: Millis(event.Replied.Sub(since))}
		switch {
		case time.Duration(f.For) > longWait:
			found = append(found, f)
		case !g.holder:
			f.Kind, f.For = PlaceExpired, 0
			found = append(found, f)
		}
		return true
	})
	q.released = time.Time{}
	return found
}
