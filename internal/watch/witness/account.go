package witness

import (
	"slices"
	"time"
)

// Account is what the events of a shop mean.
type Account struct {
	Events   []Event   `json:"events"`
	Holdings []Holding `json:"holdings"`           // whose the lock was in truth
	OnNodes  []Holding `json:"on_nodes,omitempty"` // whose each of several masters was; Holdings has whose most of them were
	Insides  []Inside  `json:"insides"`            // who believed that it was theirs
	Findings []Finding `json:"findings"`           // in the order of time
}

const (
	longWait = 100 * time.Millisecond // from when on a wait is worth a sentence
	manyAsks = 10                     // attempts that are worth one
	aMoment  = 50 * time.Millisecond  // in which a sale may hear that its lock is lost
)

// Examine says what events mean, those of all replicas from the beginning of a run on.
func Examine(events []Event) Account {
	events = InOrder(events)
	named(events)
	return examined(events, Account.together)
}

// Glance says what the latest events of a busy shop mean, in little time: it looks for no pairs that were inside together, for there may
// be very many, and leaves the texts of commands as they were sent.
func Glance(events []Event) Account {
	events = InOrder(events)
	claimed(events)
	return examined(events, func(Account) []Finding { return nil })
}

// examined says what events mean that are in order.
func examined(events []Event, together func(Account) []Finding) Account {
	a := Account{Events: events}
	key, nodes := followed(of(a.Events, 0)), followedOnNodes(a.Events)
	a.Holdings, a.OnNodes, a.Insides = slices.Concat(key.holdings, nodes.majority), nodes.holdings, insides(a.Events)
	slices.SortStableFunc(a.Holdings, func(a, b Holding) int { return a.From.Compare(b.From) })
	if len(a.Events) == 0 {
		return a
	}
	for _, find := range []func() []Finding{
		key.found, nodes.found, a.expired, func() []Finding { return together(a) }, a.stocks, a.wroteLate, a.waited, a.polled, a.leftBehind,
		a.selfish, a.told, a.unanswered, a.barred, a.booked, a.job, a.overtaken, a.idle, a.renewedOn, a.outlived,
	} {
		a.Findings = append(a.Findings, find()...)
	}
	slices.SortStableFunc(a.Findings, func(a, b Finding) int { return a.At.Compare(b.At) })
	return a
}

// Of gives the findings of a kind.
func (a Account) Of(kinds ...FindingKind) (found []Finding) {
	for _, f := range a.Findings {
		if slices.Contains(kinds, f.Kind) {
			found = append(found, f)
		}
	}
	return found
}

func (a Account) end() time.Time { return a.Events[len(a.Events)-1].Replied }

// told finds the sales that were told that they had lost their lock.
func (a Account) told() (found []Finding) {
	for _, event := range a.Events {
		if event.Kind == KindLoses {
			found = append(found, Finding{Kind: Told, At: event.Replied, By: event.Sale})
		}
	}
	return found
}

// expired finds the holdings that expired while one of their sales was inside, and stayed there.
func (a Account) expired() (found []Finding) {
	for _, h := range a.Holdings {
		if h.End != Expired {
			continue
		}
		for _, i := range a.Insides {
			if isOf(h.Holder, i.Sale) && i.covers(h.To) && i.covers(h.To.Add(aMoment)) {
				found = append(found, Finding{Kind: ExpiredAtWork, At: h.To, By: i.Sale, For: h.Lasts})
			}
		}
	}
	return found
}

// together finds the pairs that were inside at the same time.
func (a Account) together() (found []Finding) {
	for i, one := range a.Insides {
		for _, other := range a.Insides[i+1:] {
			if !other.From.Before(one.until(a.end())) {
				break // so does whoever came in later
			}
			if from, d := overlap(one, other, a.end()); d > 0 {
				found = append(found, Finding{Kind: Together, At: from, By: one.Sale, Of: other.Sale, For: Millis(d)})
			}
		}
	}
	return found
}

// leftBehind finds the lock of somebody who is gone, if it never expires.
func (a Account) leftBehind() []Finding {
	if len(a.Holdings) == 0 {
		return nil
	}
	last := a.Holdings[len(a.Holdings)-1]
	if last.End != Lasting || last.Lasts != 0 {
		return nil
	}
	for _, event := range a.Events {
		gone := event.Kind == KindEnds && event.Sale == last.Holder ||
			event.Kind == KindDies && event.Replica == ReplicaOf(last.Holder)
		if gone && event.Replied.After(last.From) {
			return []Finding{{Kind: LeftBehind, At: event.Replied, By: last.Holder}}
		}
	}
	return nil
}
