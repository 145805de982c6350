package witness

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Account is what the events of a shop mean. It is told of them one by one, and knows whose the lock is in truth, who waits, who is inside,
// and what went wrong.
type Account struct {
	Events           []Event
	Holdings         []*Holding          // whose the lock was in truth, in the order in which they began
	NodeHoldings     []*Holding          // whose each of several masters was; Holdings has whose most of them were
	Sales            []*Sale             // those that are remembered, in the order in which they asked
	ActiveSales      []*Sale             // of these, those that have asked and have not ended
	CriticalSections []*CriticalSection  // who believed that the lock was theirs, in the order in which they came in
	EndedSections    []*CriticalSection  // of these, those that ended, in that order
	Stops            []Stop              // when replicas were stopped
	Findings         []Finding           // since they were taken last
	FindingCounts    map[FindingKind]int // how many there were in all

	limits        Limits
	pendingCounts map[FindingKind]int // findings of each kind in Findings
	uninterpreted []*pendingEvent     // those whose meaning is not known yet
	trackers      map[keyLocation]*keyTracker
	nodeCount     int // masters that a lock is on

	countsBeforeEvents     map[FindingKind]int // what Found was after the last event that Events has no more
	nextCountsBeforeEvents map[FindingKind]int // what Found was after the last event that Events will forget next

	maxSegment int // that have been seen

	salesByName     map[string]*Sale // the latest of each name
	saleNames       saleNames
	diedAt          map[string]time.Time
	processes       map[string]string     // of each replica
	expiredHoldings []*Holding            // that expired, perhaps while somebody was inside
	stocks          map[int]*segmentStock // of each segment; 0: the whole
	lastEnded       *CriticalSection      // the last that ended
	occupancy       int                   // how many are
	firstRuns       map[int]string        // the first run of a tick
	lastEnds        map[string]Event
	orphanRenewals  map[string]Finding // by holder

	storyFindings []Finding     // of which Story chooses
	storySnapshot []StoryMoment // the story, once what it is made of is forgotten

	queues map[int]*redisQueue // of each segment; 0: the whole
}

// Limits bound an account that never ends. Without them, it remembers everything, and is as patient as it takes.
type Limits struct {
	MaxEvents     int           // so many are kept, and of everything else the latest
	MaxPerKind    int           // findings of a kind, until they are taken
	MaxReplyDelay time.Duration // how long a reply may take that explains another
	AllowOverlap  bool          // sales are meant to be inside together
}

const (
	reportedWait          = 100 * time.Millisecond // from when on a wait is worth a sentence
	maxUnreportedAttempts = 10                     // attempts that are worth one
	lossNoticeTime        = 50 * time.Millisecond  // in which a sale may hear that its lock is lost
)

// NewAccount makes an account that knows nothing yet.
func NewAccount(limits Limits) *Account {
	return &Account{
		FindingCounts: map[FindingKind]int{}, limits: limits, pendingCounts: map[FindingKind]int{}, trackers: map[keyLocation]*keyTracker{},
		salesByName: map[string]*Sale{}, saleNames: saleNames{}, diedAt: map[string]time.Time{},
		processes: map[string]string{}, firstRuns: map[int]string{},
		lastEnds: map[string]Event{}, orphanRenewals: map[string]Finding{}, stocks: map[int]*segmentStock{}, queues: map[int]*redisQueue{},
	}
}

// Examine says what events mean, those of all replicas from the beginning of a run on. Its findings are in the order of time.
func Examine(events []Event) Account { return Limits{}.Examine(events) }

// Examine is the same within limits.
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

// seen is an event that has been told.
type pendingEvent struct {
	Event
	unresolvedKeys int // its effect on so many keys is not known yet
}

// Anew returns an account for the same run that has been told nothing of Events yet. It has counted what came before them.
func (a *Account) WithoutEvents() *Account {
	anew := NewAccount(a.limits)
	if a.countsBeforeEvents != nil {
		anew.FindingCounts, anew.countsBeforeEvents, anew.storySnapshot = maps.Clone(a.countsBeforeEvents), a.countsBeforeEvents, a.storySnapshot
	}
	return anew
}

// Record takes the next event, in the order of Replied. What it means is known as soon as the truth is, up to it.
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
	a.forget()
}

// Settle takes what is not explained by now as it is.
func (a *Account) Settle(now time.Time) {
	a.applyOverdue(func(replied time.Time) bool { return now.Sub(replied) > a.limits.MaxReplyDelay })
}

func (a *Account) applyOverdue(late func(time.Time) bool) {
	for node := 0; node <= a.nodeCount; node++ {
		for segment := range a.maxSegment + 1 {
			a.trackerAt(keyLocation{node, segment}).applyOverdue(late)
		}
	}
	a.interpretResolved()
}

// catchUp takes the events up to the first whose effect on the lock is not known yet.
func (a *Account) interpretResolved() {
	for len(a.uninterpreted) > 0 && a.uninterpreted[0].unresolvedKeys == 0 {
		next := a.uninterpreted[0]
		a.uninterpreted = a.uninterpreted[1:]
		a.interpret(next)
	}
}

// interpret finds out what an event means before which the truth is known.
func (a *Account) interpret(next *pendingEvent) {
	event := next.Event
	a.expiredHoldings = slices.DeleteFunc(a.expiredHoldings, func(h *Holding) bool {
		late := !event.Replied.Before(h.To.Add(lossNoticeTime))
		if late {
			a.report(findExpiredAtWork(a.CriticalSections, h)...)
		}
		return late
	})
	if event.Process != "" {
		if before := a.processes[event.Replica]; before != "" && before != event.Process { // and nobody has noted its death
			a.endReplica(event)
		}
		a.processes[event.Replica] = event.Process
	}
	s := a.saleOf(event)
	s.LastEventAt = event.Replied
	switch event.Kind {
	case KindCommand:
		a.recordCommand(s, event)
		a.recordStockCommand(s, event)
	case KindAsks:
		a.beginWait(s, event)
	case KindObtains:
		a.enterLock(s, event)
	case KindLeaves:
		a.unlock(s, event)
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
		a.forgetActiveSales(event.Replica)
	case KindOrderBooked, KindOrderMissing, KindOrderDuplicated:
		a.compareLedger(event)
	default:
	}
}

// Standing gives what is so at a moment and may not stay so, of pairs inside together at most so many; 0: all.
func (a *Account) ProvisionalFindings(now time.Time, pairs int) (found []Finding) {
	found = append(found, a.findOngoingOverlaps(now, pairs)...)
	found = append(found, a.findLeftBehind()...)
	for _, s := range a.ActiveSales {
		found = append(found, s.findOvertaken(now)...)
	}
	for _, holder := range slices.Sorted(maps.Keys(a.orphanRenewals)) {
		found = append(found, a.orphanRenewals[holder])
	}
	return found
}

// Of gives the findings of a kind.
func (a Account) FindingsOf(kinds ...FindingKind) (found []Finding) {
	for _, f := range a.Findings {
		if slices.Contains(kinds, f.Kind) {
			found = append(found, f)
		}
	}
	return found
}

// Sale gives the latest sale of a short name; nil if there is none.
func (a *Account) Sale(name string) *Sale { return a.salesByName[name] }

func (a *Account) report(findings ...Finding) {
	for _, f := range findings {
		a.FindingCounts[f.Kind]++
		a.keepForStory(f)
		if a.pendingCounts[f.Kind]++; a.limits.MaxPerKind == 0 || a.pendingCounts[f.Kind] <= a.limits.MaxPerKind {
			a.Findings = append(a.Findings, f)
		}
	}
}

func endOfEvents(events []Event) time.Time { return events[len(events)-1].Replied }

// Take gives the findings since it was asked last; of many alike only some.
func (a *Account) TakeFindings() []Finding {
	taken := a.Findings
	a.Findings = nil
	clear(a.pendingCounts)
	return taken
}

const maxRemembered = 400 // sales and holdings of an account that is bounded

func (a *Account) forget() {
	if a.limits.MaxEvents == 0 {
		return
	}
	if len(a.Events)%a.limits.MaxEvents == 0 {
		a.countsBeforeEvents, a.nextCountsBeforeEvents = a.nextCountsBeforeEvents, maps.Clone(a.FindingCounts)
		a.Events = slices.Clone(a.Events[len(a.Events)-a.limits.MaxEvents:])
	}
	if len(a.CriticalSections) > 2*maxRemembered && a.storySnapshot == nil {
		a.storySnapshot = a.Story()
	}
	a.Holdings, a.NodeHoldings, a.CriticalSections = trimOldest(a.Holdings), trimOldest(a.NodeHoldings), trimOldest(a.CriticalSections)
	a.Stops = trimOldest(a.Stops)
	for _, q := range a.queues {
		q.dead = trimOldest(q.dead)
	}
	if len(a.Sales)-len(a.ActiveSales) > 2*maxRemembered {
		a.forgetSales()
	}
	if len(a.orphanRenewals) > maxRemembered {
		clear(a.orphanRenewals)
	}
}

// latest gives the latest of all; the others are forgotten now and then.
func trimOldest[T any](all []T) []T {
	if len(all) > 2*maxRemembered {
		return slices.Clone(all[maxRemembered:])
	}
	return all
}

// forgetSales keeps those of the story, which can be drawn as long as it is told.
func (a *Account) forgetSales() {
	a.storySnapshot = a.Story()
	old := len(a.Sales) - len(a.ActiveSales) - maxRemembered
	told := func(s *Sale) bool {
		return slices.ContainsFunc(a.storySnapshot, func(t StoryMoment) bool { return t.Subject == s.Name || t.Other == s.Name })
	}
	a.forgetSalesWhere(func(s *Sale) bool {
		if old <= 0 || s.EndedAt.IsZero() || told(s) {
			return false
		}
		old--
		return true
	})
}

// markUnseen forgets the sales of a replica that go on: some of what it did is not known, and they may have ended.
func (a *Account) forgetActiveSales(replica string) {
	lost := func(s *Sale) bool { return s.Replica == replica && s.EndedAt.IsZero() }
	for _, s := range a.ActiveSales {
		if lost(s) && s.section != nil {
			a.CriticalSections = slices.DeleteFunc(a.CriticalSections, func(i *CriticalSection) bool { return i == s.section })
			a.occupancy--
		}
	}
	a.ActiveSales = slices.DeleteFunc(a.ActiveSales, lost)
	a.forgetSalesWhere(lost)
}

func (a *Account) forgetSalesWhere(those func(*Sale) bool) {
	a.Sales = slices.DeleteFunc(a.Sales, func(s *Sale) bool {
		if !those(s) {
			return false
		}
		delete(a.saleNames, s.owner)
		if a.salesByName[s.Name] == s {
			delete(a.salesByName, s.Name)
		}
		return true
	})
}
