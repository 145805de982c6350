package witness

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Account diagnoses the events of a shop. Record adds events one at a time. The account tracks the true holder of the lock, the waiters and
// the sales in the critical section, and reports what went wrong. Its exported fields are for reading. It is not safe for concurrent use.
type Account struct {
	Events           []Event             // recorded events, in the order of Replied
	Holdings         []*Holding          // periods in which a holder truly had the lock, in the order in which they began
	NodeHoldings     []*Holding          // true holdings on each Redlock master; Holdings has those of a majority of masters
	Sales            []*Sale             // remembered sales, in the order in which they asked
	ActiveSales      []*Sale             // sales that have asked for the lock and not ended
	CriticalSections []*CriticalSection  // visits to the critical section, in the order of entry
	EndedSections    []*CriticalSection  // visits that have ended, in the order of their ends; the reader may clear this list
	Stops            []Stop              // periods in which a replica was stopped
	Findings         []Finding           // findings since the last call of TakeFindings
	FindingCounts    map[FindingKind]int // number of all findings so far

	limits        Limits                      // bounds of memory and waiting
	pendingCounts map[FindingKind]int         // number of findings of each kind since the last call of TakeFindings
	uninterpreted []*pendingEvent             // events that wait until the true holder before them is known
	trackers      map[keyLocation]*keyTracker // tracker of each key of the lock
	nodeCount     int                         // number of Redlock masters; 0: the lock is on one Redis

	countsBeforeEvents     map[FindingKind]int // FindingCounts after the last event that is no longer in Events; nil: none was dropped
	nextCountsBeforeEvents map[FindingKind]int // FindingCounts as of the next batch of events to be dropped

	maxSegment int // largest stock segment seen so far

	salesByName     map[string]*Sale      // latest sale of each short name
	saleNames       saleNames             // short names of sales, by owner value
	diedAt          map[string]time.Time  // latest time of death of each replica
	processes       map[string]string     // present process name of each replica
	expiredHoldings []*Holding            // expired holdings not yet checked for a sale that worked on
	stocks          map[int]*segmentStock // state of each stock segment; 0: the whole stock
	lastEnded       *CriticalSection      // visit that ended last; nil: none has ended
	occupancy       int                   // number of sales in the critical section
	firstRuns       map[int]string        // first run of each tick
	isCache         bool                  // the replicas' job computes a cached value
	lastEnds        map[string]Event      // latest KindEnds event of each replica
	orphanRenewals  map[string]Finding    // renewals after the end of the last sale that needed the lock, by holder

	storyFindings []Finding     // findings from which a story may be made
	storySnapshot []StoryMoment // story as it was when its sources were dropped; nil: compute it

	queues map[int]*redisQueue // queue for the lock of each stock segment; 0: the whole stock
}

// Limits bounds the memory of an account that never ends, and the time for which the account waits. The zero value keeps everything, and
// waits without a limit for an event that explains another.
type Limits struct {
	MaxEvents     int           // number of newest events that are always kept, at most twice as many; 0: no bound on any record
	MaxPerKind    int           // findings of a kind between two calls of TakeFindings; 0: no bound
	MaxReplyDelay time.Duration // time to wait for the late reply that explains a contradiction; 0: until the end
	AllowOverlap  bool          // the lock lets several sales into the critical section, so overlaps are not reported
}

const (
	reportedWait          = 100 * time.Millisecond // shortest wait that is reported: a buyer notices it
	maxUnreportedAttempts = 10                     // largest number of attempts of a sale that is not reported as polling
	lossNoticeTime        = 50 * time.Millisecond  // time that a sale may take to learn of the loss of its lock
)

// NewAccount returns an account without events.
func NewAccount(limits Limits) *Account {
	return &Account{
		FindingCounts: map[FindingKind]int{}, limits: limits, pendingCounts: map[FindingKind]int{}, trackers: map[keyLocation]*keyTracker{},
		salesByName: map[string]*Sale{}, saleNames: saleNames{}, diedAt: map[string]time.Time{},
		processes: map[string]string{}, firstRuns: map[int]string{},
		lastEnds: map[string]Event{}, orphanRenewals: map[string]Finding{}, stocks: map[int]*segmentStock{}, queues: map[int]*redisQueue{},
	}
}

// Examine diagnoses the events of all replicas from the beginning of a run, without limits. The findings are sorted by time.
func Examine(events []Event) Account { return Limits{}.Examine(events) }

// Examine is like the function Examine, within limits.
func (l Limits) Examine(events []Event) Account {
	a := NewAccount(l)
	for _, event := range shortenNames(InOrder(events)) {
		a.Record(event)
	}
	if len(events) == 0 {
		return *a
	}
	a.applyOverdue(func(time.Time) bool { return true })
	for _, h := range a.expiredHoldings {
		a.report(findExpiredAtWork(a.CriticalSections, h)...)
	}
	a.report(a.ProvisionalFindings(endOfEvents(a.Events), 0)...)
	slices.SortStableFunc(a.Findings, func(a, b Finding) int {
		if before := a.At.Compare(b.At); before != 0 {
			return before
		}
		return cmp.Or(cmp.Compare(a.Kind.rank(), b.Kind.rank()), cmp.Compare(a.Subject, b.Subject))
	})
	return *a
}

// pendingEvent is a recorded event whose effects may not be known yet.
type pendingEvent struct {
	Event
	unresolvedKeys int // number of keys on which the event's effect is not known yet
}

// WithoutEvents returns an account of the same run before the first of Events, to which Events can be recorded again in another order. It
// has the counts and the story of earlier events.
func (a *Account) WithoutEvents() *Account {
	earlier := NewAccount(a.limits)
	if a.countsBeforeEvents != nil {
		earlier.FindingCounts = maps.Clone(a.countsBeforeEvents)
		earlier.countsBeforeEvents = a.countsBeforeEvents
		earlier.storySnapshot = a.storySnapshot
	}
	return earlier
}

// Record adds the next event, in the order of Replied. Record interprets the event as soon as the true holder up to the event is known.
func (a *Account) Record(event Event) {
	event = a.saleNames.attribute(event)
	a.Events = append(a.Events, event)
	a.nodeCount, a.maxSegment = max(a.nodeCount, event.Nodes, event.Node), max(a.maxSegment, event.Segment)
	if event.Kind == KindAsks && a.salesByName[event.Sale] == nil {
		a.saleOf(event)
	}
	next := &pendingEvent{Event: event}
	a.uninterpreted = append(a.uninterpreted, next)
	for _, k := range a.trackersOf(event) {
		k.add(next)
	}
	a.interpretResolved()
	if a.limits.MaxReplyDelay > 0 {
		a.Settle(event.Replied)
	}
	a.trim()
}

// Settle applies the events that have contradicted the known state for longer than MaxReplyDelay, although they contradict it.
func (a *Account) Settle(now time.Time) {
	a.applyOverdue(func(replied time.Time) bool { return now.Sub(replied) > a.limits.MaxReplyDelay })
}

// applyOverdue applies pending events for which isOverdue reports true, given the time of their reply.
func (a *Account) applyOverdue(isOverdue func(replied time.Time) bool) {
	for node := 0; node <= a.nodeCount; node++ {
		for segment := range a.maxSegment + 1 {
			a.trackerAt(keyLocation{node, segment}).applyOverdue(isOverdue)
		}
	}
	a.interpretResolved()
}

// interpretResolved interprets the events up to the first whose effect on the lock is not known yet.
func (a *Account) interpretResolved() {
	for len(a.uninterpreted) > 0 && a.uninterpreted[0].unresolvedKeys == 0 {
		next := a.uninterpreted[0]
		a.uninterpreted = a.uninterpreted[1:]
		a.interpret(next)
	}
}

// interpret diagnoses an event. The true holder before the event is known.
func (a *Account) interpret(next *pendingEvent) {
	event := next.Event
	a.expiredHoldings = slices.DeleteFunc(a.expiredHoldings, func(h *Holding) bool {
		isDue := !event.Replied.Before(h.To.Add(lossNoticeTime))
		if isDue {
			a.report(findExpiredAtWork(a.CriticalSections, h)...)
		}
		return isDue
	})
	if event.Process != "" {
		// A new process name means that the replica was restarted, and its death was not recorded.
		if before := a.processes[event.Replica]; before != "" && before != event.Process {
			a.endReplica(event)
		}
		a.processes[event.Replica] = event.Process
	}
	s := a.saleOf(event)
	s.LastEventAt = event.Replied
	a.isCache = a.isCache || event.Cache
	switch event.Kind {
	case KindCommand:
		a.recordCommand(s, event)
		a.recordStockCommand(s, event)
	case KindAsks:
		a.beginWait(s, event)
	case KindObtains:
		a.obtainLock(s, event)
	case KindLeaves:
		a.beginRelease(s, event)
	case KindLoses:
		a.report(Finding{Kind: LearnedOfLoss, At: event.Replied, Subject: s.Name})
		a.exit(s, event.Replied)
	case KindEnds:
		a.endSale(s, event)
	case KindStops:
		a.Stops = append(a.Stops, Stop{Span{From: event.Replied}, event.Replica})
	case KindResumes:
		endStop(a.Stops, event)
	case KindDies:
		a.endReplica(event)
	case KindRunBegins:
		a.beginRun(s, event)
	case KindRunEnds:
		a.finishSale(s, event.Replied)
	case KindTickMissed:
		a.report(Finding{Kind: MissedTick, At: event.Replied, Tick: event.Tick})
	case KindGap:
		a.dropActiveSales(event.Replica)
	case KindOrderBooked, KindOrderMissing, KindOrderDuplicated:
		a.compareLedger(event)
	default:
	}
}

// ProvisionalFindings returns the findings that are true at now and may still change. It returns at most maxPairs overlaps; 0: all.
func (a *Account) ProvisionalFindings(now time.Time, maxPairs int) (found []Finding) {
	found = append(found, a.findOngoingOverlaps(now, maxPairs)...)
	found = append(found, a.findLeftBehind()...)
	for _, s := range a.ActiveSales {
		found = append(found, s.findOvertaken(now)...)
	}
	for _, holder := range slices.Sorted(maps.Keys(a.orphanRenewals)) {
		found = append(found, a.orphanRenewals[holder])
	}
	return found
}

// FindingsOf returns the findings of the given kinds.
func (a Account) FindingsOf(kinds ...FindingKind) (found []Finding) {
	for _, f := range a.Findings {
		if slices.Contains(kinds, f.Kind) {
			found = append(found, f)
		}
	}
	return found
}

// Sale returns the latest sale with a short name; nil if it is unknown.
func (a *Account) Sale(name string) *Sale { return a.salesByName[name] }

// report counts findings, and adds them to Findings within the limits.
func (a *Account) report(findings ...Finding) {
	for _, f := range findings {
		f.Cache = a.isCache
		a.FindingCounts[f.Kind]++
		a.keepForStory(f)
		if a.pendingCounts[f.Kind]++; a.limits.MaxPerKind == 0 || a.pendingCounts[f.Kind] <= a.limits.MaxPerKind {
			a.Findings = append(a.Findings, f)
		}
	}
}

// endOfEvents returns the time of the last of the events.
func endOfEvents(events []Event) time.Time { return events[len(events)-1].Replied }

// TakeFindings removes and returns the findings since the last call, at most MaxPerKind of a kind.
func (a *Account) TakeFindings() []Finding {
	taken := a.Findings
	a.Findings = nil
	clear(a.pendingCounts)
	return taken
}

// minRemembered is the smallest number of sales and of holdings that an account with limits keeps: several times what a page shows.
const minRemembered = 400

// trim drops the oldest entries if the account has limits.
func (a *Account) trim() {
	if a.limits.MaxEvents == 0 {
		return
	}
	if len(a.Events)%a.limits.MaxEvents == 0 {
		a.countsBeforeEvents, a.nextCountsBeforeEvents = a.nextCountsBeforeEvents, maps.Clone(a.FindingCounts)
		a.Events = slices.Clone(a.Events[len(a.Events)-a.limits.MaxEvents:])
	}
	if len(a.CriticalSections) > 2*minRemembered && a.storySnapshot == nil {
		a.storySnapshot = a.Story()
	}
	a.Holdings, a.NodeHoldings, a.CriticalSections = trimOldest(a.Holdings), trimOldest(a.NodeHoldings), trimOldest(a.CriticalSections)
	a.Stops = trimOldest(a.Stops)
	for _, q := range a.queues {
		q.leftClaims = trimOldest(q.leftClaims)
	}
	if len(a.Sales)-len(a.ActiveSales) > 2*minRemembered {
		a.trimSales()
	}
	if len(a.orphanRenewals) > minRemembered {
		clear(a.orphanRenewals)
	}
}

// trimOldest drops the minRemembered oldest elements of a list that has more than twice as many.
func trimOldest[T any](all []T) []T {
	if len(all) > 2*minRemembered {
		return slices.Clone(all[minRemembered:])
	}
	return all
}

// trimSales drops the oldest ended sales, except those in the story, which can still be drawn.
func (a *Account) trimSales() {
	a.storySnapshot = a.Story()
	old := len(a.Sales) - len(a.ActiveSales) - minRemembered
	isInStory := func(s *Sale) bool {
		return slices.ContainsFunc(a.storySnapshot, func(t StoryMoment) bool { return t.Subject == s.Name || t.Other == s.Name })
	}
	a.dropSalesWhere(func(s *Sale) bool {
		if old <= 0 || s.EndedAt.IsZero() || isInStory(s) {
			return false
		}
		old--
		return true
	})
}

// dropActiveSales drops the active sales of a replica after a gap in its events: they may have ended unseen.
func (a *Account) dropActiveSales(replica string) {
	isLost := func(s *Sale) bool { return s.Replica == replica && s.EndedAt.IsZero() }
	for _, s := range a.ActiveSales {
		if isLost(s) && s.section != nil {
			a.CriticalSections = slices.DeleteFunc(a.CriticalSections, func(i *CriticalSection) bool { return i == s.section })
			a.occupancy--
		}
	}
	a.ActiveSales = slices.DeleteFunc(a.ActiveSales, isLost)
	a.dropSalesWhere(isLost)
}

// dropSalesWhere drops the sales for which isDropped reports true.
func (a *Account) dropSalesWhere(isDropped func(*Sale) bool) {
	a.Sales = slices.DeleteFunc(a.Sales, func(s *Sale) bool {
		if !isDropped(s) {
			return false
		}
		delete(a.saleNames, s.owner)
		if a.salesByName[s.Name] == s {
			delete(a.salesByName, s.Name)
		}
		return true
	})
}
