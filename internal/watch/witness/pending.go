package witness

import (
	"cmp"
	"slices"
	"time"
)

// pending are events that have not had their effect yet. They have it one after the other, in an order that their times allow.
type pending struct {
	events []Event // in the order in which they were over
	taken  []bool
	left   int
	first  int   // of those that are left
	toCome []int // places in events of those that were not sent when the first was over, in the order in which they were sent
	came   []int // places of those that were, in order
}

func newPending(events []Event) *pending {
	p := &pending{events: events, taken: make([]bool, len(events)), left: len(events)}
	for place := range events {
		p.toCome = append(p.toCome, place)
	}
	slices.SortStableFunc(p.toCome, func(a, b int) int { return cmp.Or(events[a].Sent.Compare(events[b].Sent), cmp.Compare(a, b)) })
	return p
}

// take takes the first event that fits, of those that were sent when the first of all was over; if none fits, it takes that one.
func (p *pending) take(fits func(Event) bool) Event {
	for p.taken[p.first] {
		p.first++
	}
	p.come(p.events[p.first].Replied)
	place := p.first
	if i := slices.IndexFunc(p.came, func(place int) bool { return fits(p.events[place]) }); i >= 0 {
		place = p.came[i]
	}
	if i, is := slices.BinarySearch(p.came, place); is {
		p.came = slices.Delete(p.came, i, i+1)
	}
	p.taken[place] = true
	p.left--
	return p.events[place]
}

// come lets those come that were sent by then.
func (p *pending) come(by time.Time) {
	for len(p.toCome) > 0 && !p.events[p.toCome[0]].Sent.After(by) {
		place := p.toCome[0]
		p.toCome = p.toCome[1:]
		if !p.taken[place] {
			i, _ := slices.BinarySearch(p.came, place)
			p.came = slices.Insert(p.came, i, place)
		}
	}
}
