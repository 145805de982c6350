package witness

import (
	"slices"
	"strings"
	"time"
)

// Sale is the life of one, or of a run of a job. Times are zero of what has not happened yet.
type Sale struct {
	Name, Replica                string
	Asked, Obtained, Left, Ended time.Time
	Latest                       time.Time // event of it
	Error, Code                  string    // that ended it
	Died                         bool      // with its replica

	owner      string
	asking     time.Time // since when it waits; zero: it does not
	again      time.Time // since when it waits for a nested call
	depth      int       // of calls that have the lock
	inside     *Inside   // nil: it is not
	overtaken  int       // times, while it waited
	polls      map[int]int
	unanswered time.Time // when it sent its first command without a reply
	accused    bool      // of failing for that
	read       Event     // of the stock
	wrote      time.Time
}

// Waits reports whether the sale has asked for the lock, and not obtained it yet.
func (s *Sale) Waits() bool { return !s.Asked.IsZero() && s.Obtained.IsZero() && s.Ended.IsZero() }

// began is when the sale asked for the lock first, or the run of a job began.
func (s *Sale) began() time.Time {
	if s.Asked.IsZero() {
		return s.Obtained
	}
	return s.Asked
}

// IsInside reports whether the sale believes that it holds the lock.
func (s *Sale) IsInside() bool { return s.inside != nil }

// Stop is a time in which a replica is stopped.
type Stop struct {
	Span

	Replica string
}

// saleOf gives the sale of an event. One that asks after its end is another of that name: its replica was started again.
func (a *Account) saleOf(event Event) *Sale {
	s := a.sales[event.Sale]
	if s == nil || event.Kind == KindAsks && !s.Ended.IsZero() {
		s = &Sale{Name: event.Sale, Replica: event.Replica}
		a.sales[s.Name] = s
		if s.Name != "" {
			a.Sales = append(a.Sales, s)
		}
	}
	return s
}

func (a *Account) beginWait(s *Sale, event Event) {
	if s.Asked.IsZero() {
		s.Asked, s.owner = event.Replied, event.Owner
		a.Going = append(a.Going, s)
	}
	if s.asking = event.Replied; !s.Obtained.IsZero() {
		s.again = event.Replied
	}
	s.polls = map[int]int{}
}

func (a *Account) enterLock(s *Sale, event Event) {
	a.waited(s, event)
	if s.Waits() {
		for _, other := range a.Going[:slices.Index(a.Going, s)] {
			if other.Waits() {
				other.overtaken++
			}
		}
		a.stopWaiting(s, event.Replied)
		a.find(a.queue.adopt(s, event)...)
	}
	s.again = time.Time{}
	a.enter(s, event.Replied)
}

func (a *Account) unlock(s *Sale, event Event) {
	a.endWait(s, event)
	if s.depth--; s.depth == 0 {
		a.exit(s, event.Replied)
	}
}

func (a *Account) endSale(s *Sale, event Event) {
	a.endWait(s, event)
	a.waited(s, event)
	a.stopWaiting(s, event.Replied)
	a.ended[event.Replica] = event
	s.Error, s.Code = event.Error, event.Code
	a.isOver(s, event.Replied)
	if !s.unanswered.IsZero() {
		a.unanswered(s)
	}
}

// isOver ends a sale, by itself or by the death of its replica.
func (a *Account) isOver(s *Sale, at time.Time) {
	a.exit(s, at)
	if s.Ended.IsZero() {
		s.Ended = at
	}
	if i := slices.Index(a.Going, s); i >= 0 {
		a.Going = slices.Delete(a.Going, i, i+1)
	}
}

// endStop ends the time in which a replica was stopped.
func endStop(stops []Stop, event Event) {
	for i := range stops {
		if stop := &stops[i]; stop.Replica == event.Replica && stop.To.IsZero() {
			stop.To = event.Replied
		}
	}
}

// endReplica ends a replica, and its sales.
func (a *Account) endReplica(event Event) {
	endStop(a.Stops, event)
	a.queue.markDead(event, a.Holdings, a.Going)
	delete(a.process, event.Replica)
	a.died[event.Replica] = event.Replied
	for _, s := range slices.Clone(a.Sales) {
		if s.Replica == event.Replica && s.Ended.IsZero() {
			s.Died = true
			a.isOver(s, event.Replied)
		}
	}
}

// ReplicaOf gives the replica of a sale's short name.
func ReplicaOf(sale string) string {
	replica, _, _ := strings.Cut(sale, "#")
	return replica
}

// isOf reports whether a holder's lock is this sale's: by its own name, or by that of its replica.
func isOf(holder, sale string) bool { return holder == sale || holder == ReplicaOf(sale) }
