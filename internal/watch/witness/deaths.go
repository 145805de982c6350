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

// mourning goes through the events, for who waits for whom.
type mourning struct {
	account  Account
	waiting  []Event // asking, in order, not yet inside
	inside   map[string]bool
	queued   map[string]time.Time // replicas that asked for the lock in vain, since when
	gone     []gone
	released time.Time // when a replica handed the lock to the first in the queue, and nobody has come in since
	found    []Finding
}

// outlived finds the sales that waited because a replica died with the lock, or in a queue of Redis's.
func (a Account) outlived() []Finding {
	m := mourning{account: a, inside: map[string]bool{}, queued: map[string]time.Time{}}
	for _, event := range a.Events {
		switch {
		case event.Kind == KindAsks && !m.inside[event.Sale]:
			m.waiting = append(m.waiting, event)
		case event.Kind == KindObtains && !m.inside[event.Sale]:
			m.comesIn(event)
		case event.Kind == KindEnds:
			delete(m.inside, event.Sale)
			m.waiting = slices.DeleteFunc(m.waiting, func(e Event) bool { return e.Sale == event.Sale })
		case event.Kind == KindDies:
			m.dies(event)
		case event.Command != nil:
			m.command(event)
		}
	}
	return m.found
}

// command notes who has a place in the queue, and when the first of it is to have the lock.
func (m *mourning) command(event Event) {
	switch c := event.Command; {
	case c.Verb == Takes && c.Outcome == Refused:
		if m.queued[event.Replica].IsZero() {
			m.queued[event.Replica] = event.Replied
		}
	case c.Verb == Removes:
		delete(m.queued, event.Replica)
		if c.Outcome == Passed {
			m.released = event.Replied
		}
	}
}

// dies notes what a replica leaves. Its next process begins anew, with sales of old names.
func (m *mourning) dies(event Event) {
	held := ""
	for _, h := range m.account.Holdings {
		if ReplicaOf(h.Holder) == event.Replica && h.From.Before(event.Replied) && (h.End == Lasting || h.To.After(event.Replied)) {
			held = h.Holder
		}
	}
	for sale := range m.inside {
		if ReplicaOf(sale) == event.Replica {
			delete(m.inside, sale)
			if held == event.Replica {
				held = sale
			}
		}
	}
	i := slices.IndexFunc(m.waiting, func(e Event) bool { return e.Replica == event.Replica })
	switch {
	case held != "":
		m.gone = append(m.gone, gone{by: held, at: event.Replied, holder: true})
	case i >= 0 && !m.queued[event.Replica].IsZero():
		m.gone = append(m.gone, gone{by: m.waiting[i].Sale, at: event.Replied, queued: m.queued[event.Replica]})
	}
	delete(m.queued, event.Replica)
	m.waiting = slices.DeleteFunc(m.waiting, func(e Event) bool { return e.Replica == event.Replica })
}

// comesIn is for a sale that has waited for its turn: perhaps for that of one that is gone, too.
func (m *mourning) comesIn(event Event) {
	m.inside[event.Sale] = true
	i := slices.IndexFunc(m.waiting, func(e Event) bool { return e.Sale == event.Sale })
	if i < 0 {
		return
	}
	asked := m.waiting[i].Replied
	queued, is := m.queued[event.Replica]
	if !is { // it had the lock at once
		queued = asked
	}
	delete(m.queued, event.Replica)
	m.waiting = slices.Delete(m.waiting, i, i+1)
	m.gone = slices.DeleteFunc(m.gone, func(g gone) bool {
		since := later(g.at, asked)
		kind := DiedHolding
		if !g.holder {
			if !m.released.After(g.queued) || !queued.After(g.queued) {
				return false // it came in before its turn, or was ahead of it
			}
			since, kind = later(m.released, asked), PassedOver
		}
		f := Finding{Kind: kind, At: event.Replied, By: g.by, Of: event.Sale, For: Millis(event.Replied.Sub(since))}
		switch {
		case time.Duration(f.For) > longWait:
			m.found = append(m.found, f)
		case !g.holder:
			f.Kind, f.For = PlaceExpired, 0
			m.found = append(m.found, f)
		}
		return true
	})
	m.released = time.Time{}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
