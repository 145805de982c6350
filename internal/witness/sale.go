package witness

import (
	"slices"
	"strings"
	"time"

	"lockstep/internal/lock"
)

// Sale is the life of one, or of a run of a job. Times are zero of what has not happened yet.
type Sale struct {
	Name, Replica                        string
	AskedAt, ObtainedAt, LeftAt, EndedAt time.Time
	LastEventAt                          time.Time // event of it
	Error, Code                          string    // that ended it
	Died                                 bool      // with its replica
	Segment                              int       // of the stock, from 1 on, that it is in, or was last; 0: the whole

	owner                string
	waitingSince         time.Time        // since when it waits; zero: it does not
	nestedWaitSince      time.Time        // since when it waits for a nested call
	lockDepth            int              // of calls that have the lock
	section              *CriticalSection // nil: it is not
	overtakenCount       int              // times, while it waited
	attempts             map[int]int
	unansweredSince      time.Time // when it sent its first command without a reply
	isUnansweredReported bool      // of failing for that
	lastRead             Event     // of the stock
	wroteAt              time.Time
}

// Waits reports whether the sale has asked for the lock, and not obtained it yet.
func (s *Sale) IsWaiting() bool {
	return !s.AskedAt.IsZero() && s.ObtainedAt.IsZero() && s.EndedAt.IsZero()
}

// began is when the sale asked for the lock first, or the run of a job began.
func (s *Sale) beganAt() time.Time {
	if s.AskedAt.IsZero() {
		return s.ObtainedAt
	}
	return s.AskedAt
}

// IsInside reports whether the sale believes that it holds the lock.
func (s *Sale) InCriticalSection() bool { return s.section != nil }

// Stop is a time in which a replica is stopped.
type Stop struct {
	Span

	Replica string
}

// saleOf gives the sale of an event. One that asks after its end is another of that name: its replica was started again.
func (a *Account) saleOf(event Event) *Sale {
	s := a.salesByName[event.Sale]
	if s == nil || event.Kind == KindAsks && !s.EndedAt.IsZero() {
		s = &Sale{Name: event.Sale, Replica: event.Replica}
		a.salesByName[s.Name] = s
		if s.Name != "" {
			a.Sales = append(a.Sales, s)
		}
	}
	return s
}

func (a *Account) beginWait(s *Sale, event Event) {
	if s.AskedAt.IsZero() {
		s.AskedAt, s.owner = event.Replied, event.Owner
		a.ActiveSales = append(a.ActiveSales, s)
	}
	if event.Segment != s.Segment { // the one before is sold out: it waits anew, behind those who wait there
		s.Segment, s.ObtainedAt, s.LeftAt = event.Segment, time.Time{}, time.Time{}
		if i := slices.Index(a.ActiveSales, s); i >= 0 {
			a.ActiveSales = append(slices.Delete(a.ActiveSales, i, i+1), s)
		}
	}
	if s.waitingSince = event.Replied; !s.ObtainedAt.IsZero() {
		s.nestedWaitSince = event.Replied
	}
	s.attempts = map[int]int{}
}

func (a *Account) enterLock(s *Sale, event Event) {
	a.recordWait(s, event)
	if s.IsWaiting() {
		for _, other := range a.ActiveSales[:slices.Index(a.ActiveSales, s)] {
			if other.IsWaiting() && other.Segment == s.Segment {
				other.overtakenCount++
			}
		}
		a.report(s.findOvertaken(event.Replied)...)
		a.report(a.queueOf(event).admit(s, event)...)
	}
	s.nestedWaitSince = time.Time{}
	a.enter(s, event.Replied)
}

func (a *Account) unlock(s *Sale, event Event) {
	a.report(s.endNestedWait(event.Replied)...)
	if s.lockDepth--; s.lockDepth == 0 {
		a.exit(s, event.Replied)
	}
}

func (a *Account) endSale(s *Sale, event Event) {
	a.report(s.endNestedWait(event.Replied)...)
	a.recordWait(s, event)
	a.report(s.findOvertaken(event.Replied)...)
	a.lastEnds[event.Replica] = event
	s.Error, s.Code = event.Error, event.Code
	a.finishSale(s, event.Replied)
	if !s.unansweredSince.IsZero() {
		a.report(s.findUnanswered()...)
	}
}

// conclude ends a sale, by itself or by the death of its replica.
func (a *Account) finishSale(s *Sale, at time.Time) {
	a.exit(s, at)
	if s.EndedAt.IsZero() {
		s.EndedAt = at
	}
	if i := slices.Index(a.ActiveSales, s); i >= 0 {
		a.ActiveSales = slices.Delete(a.ActiveSales, i, i+1)
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
	for segment := range a.maxSegment + 1 {
		a.queueOf(Event{Segment: segment}).markDead(event, segment, a.Holdings, a.ActiveSales)
	}
	delete(a.processes, event.Replica)
	a.diedAt[event.Replica] = event.Replied
	for _, s := range slices.Clone(a.Sales) {
		if s.Replica == event.Replica && s.EndedAt.IsZero() {
			s.Died = true
			a.finishSale(s, event.Replied)
		}
	}
}

// ReplicaOf gives the replica of a sale's short name.
func ReplicaOf(sale string) string {
	replica, _, _ := strings.Cut(sale, "#")
	return replica
}

// isOf reports whether a holder's lock is this sale's: by its own name, or by that of its replica.
func isHeldBy(holder, sale string) bool { return holder == sale || holder == ReplicaOf(sale) }

// Inside is the time in which a sale believed that it held the lock: from when it obtained it until it began to give it back, was told that
// it was lost, or died.
type CriticalSection struct {
	Span

	Sale         string
	Segment      int      // as its sale's
	Overlaps     []string // who was inside meanwhile, when it ended: the first few
	OverlapCount int      // how many were
}

const maxOverlaps = 3

// enter takes a sale in. Calls may be nested.
func (a *Account) enter(s *Sale, at time.Time) {
	s.lockDepth = max(s.lockDepth, 0) + 1
	if s.section != nil {
		return
	}
	if s.ObtainedAt.IsZero() {
		s.ObtainedAt = at
	}
	s.section = &CriticalSection{Span: Span{From: at}, Sale: s.Name, Segment: s.Segment}
	a.CriticalSections = append(a.CriticalSections, s.section)
	a.occupancy++
	// a run of a job asks for nothing: it waits for its tick
	if a.occupancy == 1 && a.lastEnded != nil && a.lastEnded.Segment == s.Segment && !s.AskedAt.IsZero() {
		if d := at.Sub(later(a.lastEnded.To, s.AskedAt)); d > reportedWait {
			a.report(Finding{Kind: LockIdle, At: at, Subject: s.Name, Other: a.lastEnded.Sale, Duration: Millis(d)})
		}
	}
}

// exit takes it out, and finds with whom it was inside together: with those that are still there, when they leave.
func (a *Account) exit(s *Sale, at time.Time) {
	i := s.section
	s.lockDepth = 0
	if i == nil {
		return
	}
	i.To, s.section = at, nil
	if s.LeftAt.IsZero() {
		s.LeftAt = at
	}
	a.EndedSections = append(a.EndedSections, i)
	a.occupancy--
	a.lastEnded = i
	if a.limits.AllowOverlap {
		return
	}
	for _, other := range a.CriticalSections {
		both := i.Intersect(other.Span)
		if other == i || other.Segment != i.Segment || both.Length() <= 0 {
			continue
		}
		if i.OverlapCount++; len(i.Overlaps) < maxOverlaps {
			i.Overlaps = append(i.Overlaps, other.Sale)
		}
		if !other.To.IsZero() {
			a.report(overlapFinding(i, other, both))
		}
	}
}

// together is the finding that two were inside at the same time.
func overlapFinding(a, b *CriticalSection, both Span) Finding {
	if b.From.Before(a.From) || b.From.Equal(a.From) && b.Sale < a.Sale {
		a, b = b, a
	}
	return Finding{Kind: Overlapped, At: both.From, Subject: a.Sale, Other: b.Sale, Duration: Millis(both.Length())}
}

// overlapping finds the pairs of which one is still inside; at most so many.
func (a *Account) findOngoingOverlaps(now time.Time, most int) (found []Finding) {
	if a.limits.AllowOverlap {
		return nil
	}
	for at, one := range a.CriticalSections {
		if !one.To.IsZero() {
			continue
		}
		for place, other := range a.CriticalSections {
			both := one.Intersect(other.Span).Intersect(Span{To: now})
			if both.Length() <= 0 || other == one || other.Segment != one.Segment || place < at && other.To.IsZero() { // those are found already
				continue
			}
			if found = append(found, overlapFinding(other, one, both)); len(found) == most {
				return found
			}
		}
	}
	return found
}

// InsideAt gives the latest sale of a replica that was inside at a moment; "" if there was none.
func (a *Account) SaleInCriticalSection(replica string, at time.Time) string {
	for _, i := range slices.Backward(a.CriticalSections) {
		if ReplicaOf(i.Sale) == replica && (i.Contains(at) || at.Equal(i.To)) {
			return i.Sale
		}
	}
	return ""
}

// expiredAtWork finds the sales that were inside when their lock expired, and stayed there.
func findExpiredAtWork(insides []*CriticalSection, h *Holding) (found []Finding) {
	for _, i := range insides {
		if h.BelongsTo(i.Sale) && i.Segment == h.Segment && i.Contains(h.To) && i.Contains(h.To.Add(lossNoticeTime)) {
			found = append(found, Finding{Kind: ExpiredAtWork, At: h.To, Subject: i.Sale, Duration: h.TTL})
		}
	}
	return found
}

// named writes sales' short names for their owners, and replicas' for their processes, in the commands of all replicas.
func shortenNames(events []Event) []Event {
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
type saleNames map[string]string

// claimed gives a command that a sale's name is in, though the sale had ended when it was sent, to that sale.
func (o saleNames) attribute(event Event) Event {
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
