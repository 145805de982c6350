package witness

import (
	"slices"
	"strings"
	"time"

	"lockstep/internal/lock"
)

// Sale is the history of a sale, or of a run of a job. A time is zero until its event happens.
type Sale struct {
	Name, Replica                        string
	AskedAt, ObtainedAt, LeftAt, EndedAt time.Time // first times at which the sale asked for the lock, obtained and left it, and ended
	LastEventAt                          time.Time // time of the sale's latest event
	Error, Code                          string    // failure that ended the sale, and its code; empty: it succeeded or goes on
	Died                                 bool      // the sale ended because its replica died
	Segment                              int       // 1-based stock segment that the sale is in, or was in last; 0: the whole stock

	owner                string           // owner value of the sale
	waitingSince         time.Time        // start of the present wait; zero: the sale does not wait
	nestedWaitSince      time.Time        // start of a nested call's wait; zero: no nested call waits
	lockDepth            int              // number of nested calls that hold the lock, the outermost included
	section              *CriticalSection // present visit to the critical section; nil: none
	overtakenCount       int              // number of sales that asked later and obtained the lock first
	attempts             map[int]int      // number of vain attempts in the present wait, by node; nil: the sale does not wait
	unansweredSince      time.Time        // time of its first command without a reply; zero: none
	isUnansweredReported bool             // Unanswered was reported
	lastRead             Event            // latest read of the stock
	wroteAt              time.Time        // time of the latest write of the stock
}

// IsWaiting reports whether the sale has asked for the lock and neither obtained it nor ended.
func (s *Sale) IsWaiting() bool {
	return !s.AskedAt.IsZero() && s.ObtainedAt.IsZero() && s.EndedAt.IsZero()
}

// beganAt returns when the sale asked for the lock first, or when the run of a job began.
func (s *Sale) beganAt() time.Time {
	if s.AskedAt.IsZero() {
		return s.ObtainedAt
	}
	return s.AskedAt
}

// InCriticalSection reports whether the sale is in the critical section: it believes that it holds the lock.
func (s *Sale) InCriticalSection() bool { return s.section != nil }

// Stop is a period in which a replica is stopped.
type Stop struct {
	Span

	Replica string // name of the replica
}

// saleOf returns the sale of an event, and creates it if necessary. If the sale asks after its end, its replica was restarted, and this is
// a new sale of the same name.
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

// beginWait handles an event in which a sale, or a nested call of it, asks for the lock.
func (a *Account) beginWait(s *Sale, event Event) {
	if s.AskedAt.IsZero() {
		s.AskedAt, s.owner = event.Replied, event.Owner
		a.ActiveSales = append(a.ActiveSales, s)
	}
	if event.Segment != s.Segment { // The segment before is sold out: the sale waits again, behind those who wait for this one.
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

// obtainLock handles an event in which a sale, or a nested call of it, obtains the lock.
func (a *Account) obtainLock(s *Sale, event Event) {
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

// beginRelease handles an event in which a sale, or a nested call of it, begins to release the lock.
func (a *Account) beginRelease(s *Sale, event Event) {
	a.report(s.endNestedWait(event.Replied)...)
	if s.lockDepth--; s.lockDepth == 0 {
		a.exit(s, event.Replied)
	}
}

// endSale handles the end of a sale.
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

// finishSale records that a sale has ended, by itself or by the death of its replica.
func (a *Account) finishSale(s *Sale, at time.Time) {
	a.exit(s, at)
	if s.EndedAt.IsZero() {
		s.EndedAt = at
	}
	if i := slices.Index(a.ActiveSales, s); i >= 0 {
		a.ActiveSales = slices.Delete(a.ActiveSales, i, i+1)
	}
}

// endStop ends the stop of an event's replica.
func endStop(stops []Stop, event Event) {
	for i := range stops {
		if stop := &stops[i]; stop.Replica == event.Replica && stop.To.IsZero() {
			stop.To = event.Replied
		}
	}
}

// endReplica handles the death of a replica, or its replacement by another process of the same name: all its sales end.
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

// ReplicaOf returns the replica of a sale's short name.
func ReplicaOf(sale string) string {
	replica, _, _ := strings.Cut(sale, "#")
	return replica
}

// isHeldBy reports whether a holder is this sale or its replica.
func isHeldBy(holder, sale string) bool { return holder == sale || holder == ReplicaOf(sale) }

// CriticalSection is a visit to the critical section: the time in which a sale believed that it held the lock, from obtaining the lock
// until the sale began to release it, learned of its loss, or died.
type CriticalSection struct {
	Span

	Sale         string   // short name of the sale, such as r1#3
	Segment      int      // 1-based stock segment of the sale; 0: the whole stock
	Overlaps     []string // first few sales with which the visit overlapped, known at its end
	OverlapCount int      // number of sales with which the visit overlapped
}

// maxOverlaps is the number of overlapping sales whose names a visit keeps: as many as a tooltip of the page can show.
const maxOverlaps = 3

// enter begins a sale's visit to the critical section. Calls may be nested.
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
	// A run of a job asks for nothing, because it waits for its tick.
	if a.occupancy == 1 && a.lastEnded != nil && a.lastEnded.Segment == s.Segment && !s.AskedAt.IsZero() {
		if d := at.Sub(laterOf(a.lastEnded.To, s.AskedAt)); d > reportedWait {
			a.report(Finding{Kind: LockIdle, At: at, Subject: s.Name, Other: a.lastEnded.Sale, Duration: Millis(d)})
		}
	}
}

// exit ends a sale's visit, and reports the overlaps with visits that have ended. The overlaps with other visits are reported when those
// end.
func (a *Account) exit(s *Sale, at time.Time) {
	section := s.section
	s.lockDepth = 0
	if section == nil {
		return
	}
	section.To, s.section = at, nil
	if s.LeftAt.IsZero() {
		s.LeftAt = at
	}
	a.EndedSections = append(a.EndedSections, section)
	a.occupancy--
	a.lastEnded = section
	if a.limits.AllowOverlap {
		return
	}
	for _, other := range a.CriticalSections {
		overlap := section.Intersect(other.Span)
		if other == section || other.Segment != section.Segment || overlap.Length() <= 0 {
			continue
		}
		if section.OverlapCount++; len(section.Overlaps) < maxOverlaps {
			section.Overlaps = append(section.Overlaps, other.Sale)
		}
		if !other.To.IsZero() {
			a.report(overlapFinding(section, other, overlap))
		}
	}
}

// overlapFinding returns the finding that two visits overlapped, named in the order of entry.
func overlapFinding(a, b *CriticalSection, overlap Span) Finding {
	if b.From.Before(a.From) || b.From.Equal(a.From) && b.Sale < a.Sale {
		a, b = b, a
	}
	return Finding{Kind: Overlapped, At: overlap.From, Subject: a.Sale, Other: b.Sale, Duration: Millis(overlap.Length())}
}

// findOngoingOverlaps returns the overlaps of which at least one visit continues, at most limit of them; 0: all.
func (a *Account) findOngoingOverlaps(now time.Time, limit int) (found []Finding) {
	if a.limits.AllowOverlap {
		return nil
	}
	for i, one := range a.CriticalSections {
		if !one.To.IsZero() {
			continue
		}
		for j, other := range a.CriticalSections {
			overlap := one.Intersect(other.Span).Intersect(Span{To: now})
			// Of two visits that go on, each pair is found in one order only.
			if overlap.Length() <= 0 || other == one || other.Segment != one.Segment || j < i && other.To.IsZero() {
				continue
			}
			if found = append(found, overlapFinding(other, one, overlap)); len(found) == limit {
				return found
			}
		}
	}
	return found
}

// SaleInCriticalSection returns the latest sale of a replica that was in the critical section at a time; empty if there was none.
func (a *Account) SaleInCriticalSection(replica string, at time.Time) string {
	for _, section := range slices.Backward(a.CriticalSections) {
		if ReplicaOf(section.Sale) == replica && (section.Contains(at) || at.Equal(section.To)) {
			return section.Sale
		}
	}
	return ""
}

// findExpiredAtWork returns a finding for each sale that was in the critical section when its lock expired, and stayed there.
func findExpiredAtWork(sections []*CriticalSection, h *Holding) (found []Finding) {
	for _, section := range sections {
		if h.BelongsTo(section.Sale) && section.Segment == h.Segment && section.Contains(h.To) && section.Contains(h.To.Add(lossNoticeTime)) {
			found = append(found, Finding{Kind: ExpiredAtWork, At: h.To, Subject: section.Sale, Duration: h.TTL})
		}
	}
	return found
}

// shortenNames replaces owners by short names of sales, and process names by replicas, in the commands of all replicas.
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

// saleNames has the short names of sales by their owner values.
type saleNames map[string]string

// attribute returns the event of a command that carries a sale's owner value as an event of that sale, even if the sale had ended when the
// command was sent. It returns other events unchanged, and records the owner value of a sale that asks for the lock.
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
