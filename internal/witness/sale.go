package witness

import (
	"slices"
	"strings"
	"time"

	"lockstep/internal/lock"
)

// Sale is the life of one, or of a run of a job. Times are zero of what has not happened yet.
type Sale struct {
	Name, Replica                string
	Asked, Obtained, Left, Ended time.Time
	Latest                       time.Time // event of it
	Error, Code                  string    // that ended it
	Died                         bool      // with its replica
	Segment                      int       // of the stock, from 1 on, that it is in, or was last; 0: the whole

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
	if event.Segment != s.Segment { // the one before is sold out: it waits anew, behind those who wait there
		s.Segment, s.Obtained, s.Left = event.Segment, time.Time{}, time.Time{}
		if i := slices.Index(a.Going, s); i >= 0 {
			a.Going = append(slices.Delete(a.Going, i, i+1), s)
		}
	}
	if s.asking = event.Replied; !s.Obtained.IsZero() {
		s.again = event.Replied
	}
	s.polls = map[int]int{}
}

func (a *Account) enterLock(s *Sale, event Event) {
	a.recordWait(s, event)
	if s.Waits() {
		for _, other := range a.Going[:slices.Index(a.Going, s)] {
			if other.Waits() && other.Segment == s.Segment {
				other.overtaken++
			}
		}
		a.find(s.wasOvertaken(event.Replied)...)
		a.find(a.queueOf(event).adopt(s, event)...)
	}
	s.again = time.Time{}
	a.enter(s, event.Replied)
}

func (a *Account) unlock(s *Sale, event Event) {
	a.find(s.endNestedWait(event.Replied)...)
	if s.depth--; s.depth == 0 {
		a.exit(s, event.Replied)
	}
}

func (a *Account) endSale(s *Sale, event Event) {
	a.find(s.endNestedWait(event.Replied)...)
	a.recordWait(s, event)
	a.find(s.wasOvertaken(event.Replied)...)
	a.ended[event.Replica] = event
	s.Error, s.Code = event.Error, event.Code
	a.conclude(s, event.Replied)
	if !s.unanswered.IsZero() {
		a.find(s.accuse()...)
	}
}

// conclude ends a sale, by itself or by the death of its replica.
func (a *Account) conclude(s *Sale, at time.Time) {
	a.exit(s, at)
	if s.Ended.IsZero() {
		s.Ended = at
	}
	if i := slices.Index(a.Going, s); i >= 0 {
		a.Going = slices.Delete(a.Going, i, i+1)
	}
}

func endStop(stops []Stop, event Event) {
	for i := range stops {
		if stop := &stops[i]; stop.Replica == event.Replica && stop.To.IsZero() {
			stop.To = event.Replied
		}
	}
}

func (a *Account) endReplica(event Event) {
	endStop(a.Stops, event)
	for segment := range a.segments + 1 {
		a.queueOf(Event{Segment: segment}).markDead(event, segment, a.Holdings, a.Going)
	}
	delete(a.process, event.Replica)
	a.died[event.Replica] = event.Replied
	for _, s := range slices.Clone(a.Sales) {
		if s.Replica == event.Replica && s.Ended.IsZero() {
			s.Died = true
			a.conclude(s, event.Replied)
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

// Inside is the time in which a sale believed that it held the lock: from when it obtained it until it began to give it back, was told that
// it was lost, or died.
type Inside struct {
	Span

	Sale    string
	Segment int      // as its sale's
	Met     []string // who was inside meanwhile, when it ended: the first few
	With    int      // how many were
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
	s.inside = &Inside{Span: Span{From: at}, Sale: s.Name, Segment: s.Segment}
	a.Insides = append(a.Insides, s.inside)
	a.inside++
	// a run of a job asks for nothing: it waits for its tick
	if a.inside == 1 && a.last != nil && a.last.Segment == s.Segment && !s.Asked.IsZero() {
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
	a.last = i
	if a.limits.Shared {
		return
	}
	for _, other := range a.Insides {
		both := i.And(other.Span)
		if other == i || other.Segment != i.Segment || both.Len() <= 0 {
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
			if both.Len() <= 0 || other == one || other.Segment != one.Segment || place < at && other.To.IsZero() { // those are found already
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
		if h.Is(i.Sale) && i.Segment == h.Segment && i.Covers(h.To) && i.Covers(h.To.Add(aMoment)) {
			found = append(found, Finding{Kind: ExpiredAtWork, At: h.To, By: i.Sale, For: h.Lasts})
		}
	}
	return found
}

// named writes sales' short names for their owners, and replicas' for their processes, in the commands of all replicas.
func named(events []Event) []Event {
	var pairs []string
	for _, event := range events {
		if event.Process != "" {
			pairs = append(pairs, event.Process, event.Replica)
		}
		if event.Kind == KindAsks && event.Owner != "" {
			pairs = append(pairs, event.Owner, event.Sale, strings.TrimPrefix(event.Owner, lock.Key+":"), event.Sale)
		}
	}
	names := strings.NewReplacer(pairs...)
	for i, event := range events {
		if event.Command == nil {
			continue
		}
		command := *event.Command
		command.Text, command.Reply = names.Replace(command.Text), names.Replace(command.Reply)
		events[i].Command = &command
	}
	return events
}

// owners has sales' names, by their names in commands.
type owners map[string]string

// claimed gives a command that a sale's name is in, though the sale had ended when it was sent, to that sale.
func (o owners) claimed(event Event) Event {
	if event.Kind == KindAsks && event.Owner != "" {
		o[event.Owner] = event.Sale
	}
	if sale := o[event.Owner]; sale != "" && event.Command != nil {
		command := *event.Command
		event.Sale, command.Holder = sale, sale
		event.Command = &command
	}
	return event
}
