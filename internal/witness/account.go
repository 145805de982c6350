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

	limits Limits
	alike  map[FindingKind]int // findings of each kind in Findings
	unread []*seen             // those whose meaning is not known yet
	keys   map[place]*key
	nodes  int // masters that a lock is on

	forgotten map[FindingKind]int // what Found was after the last event that Events has no more
	halfway   map[FindingKind]int // what Found was after the last event that Events will forget next

	segments int // that have been seen

	sales   map[string]*Sale // the latest of each name
	owners  owners
	died    map[string]time.Time
	process map[string]string // of each replica
	overdue []*Holding        // that expired, perhaps while somebody was inside
	stocks  map[int]*stock    // of each segment; 0: the whole
	last    *CriticalSection  // the last that ended
	inside  int               // how many are
	ran     map[int]string    // the first run of a tick
	ended   map[string]Event
	renewed map[string]Finding // by holder

	tale []Finding     // of which Story chooses
	told []StoryMoment // the story, once what it is made of is forgotten

	queues map[int]*queue // of each segment; 0: the whole
}

// Limits bound an account that never ends. Without them, it remembers everything, and is as patient as it takes.
type Limits struct {
	MaxEvents     int           // so many are kept, and of everything else the latest
	MaxPerKind    int           // findings of a kind, until they are taken
	MaxReplyDelay time.Duration // how long a reply may take that explains another
	AllowOverlap  bool          // sales are meant to be inside together
}

const (
	longWait = 100 * time.Millisecond // from when on a wait is worth a sentence
	manyAsks = 10                     // attempts that are worth one
	aMoment  = 50 * time.Millisecond  // in which a sale may hear that its lock is lost
)

// NewAccount makes an account that knows nothing yet.
func NewAccount(limits Limits) *Account {
	return &Account{
		FindingCounts: map[FindingKind]int{}, limits: limits, alike: map[FindingKind]int{}, keys: map[place]*key{},
		sales: map[string]*Sale{}, owners: owners{}, died: map[string]time.Time{},
		process: map[string]string{}, ran: map[int]string{},
		ended: map[string]Event{}, renewed: map[string]Finding{}, stocks: map[int]*stock{}, queues: map[int]*queue{},
	}
}

// Examine says what events mean, those of all replicas from the beginning of a run on. Its findings are in the order of time.
func Examine(events []Event) Account { return Limits{}.Examine(events) }

// Examine is the same within limits.
func (l Limits) Examine(events []Event) Account {
	a := NewAccount(l)
	for _, event := range named(InOrder(events)) {
		a.Record(event)
	}
	if len(events) == 0 {
		return *a
	}
	a.settle(func(time.Time) bool { return true })
	for _, h := range a.overdue {
		a.find(expiredAtWork(a.CriticalSections, h)...)
	}
	a.find(a.ProvisionalFindings(lastReply(a.Events), 0)...)
	slices.SortStableFunc(a.Findings, func(a, b Finding) int {
		if before := a.At.Compare(b.At); before != 0 {
			return before
		}
		return cmp.Or(cmp.Compare(a.Kind.rank(), b.Kind.rank()), cmp.Compare(a.Subject, b.Subject))
	})
	return *a
}

// seen is an event that has been told.
type seen struct {
	Event
	waits int // its effect on so many keys is not known yet
}

// Anew returns an account for the same run that has been told nothing of Events yet. It has counted what came before them.
func (a *Account) WithoutEvents() *Account {
	anew := NewAccount(a.limits)
	if a.forgotten != nil {
		anew.FindingCounts, anew.forgotten, anew.told = maps.Clone(a.forgotten), a.forgotten, a.told
	}
	return anew
}

// Record takes the next event, in the order of Replied. What it means is known as soon as the truth is, up to it.
func (a *Account) Record(event Event) {
	event = a.owners.claimed(event)
	a.Events = append(a.Events, event)
	a.nodes, a.segments = max(a.nodes, event.Nodes, event.Node), max(a.segments, event.Segment)
	if event.Kind == KindAsks && a.sales[event.Sale] == nil {
		a.saleOf(event)
	}
	next := &seen{Event: event}
	a.unread = append(a.unread, next)
	for _, k := range a.keysOf(event) {
		k.see(next)
	}
	a.catchUp()
	if a.limits.MaxReplyDelay > 0 {
		a.Settle(event.Replied)
	}
	a.forget()
}

// Settle takes what is not explained by now as it is.
func (a *Account) Settle(now time.Time) {
	a.settle(func(replied time.Time) bool { return now.Sub(replied) > a.limits.MaxReplyDelay })
}

func (a *Account) settle(late func(time.Time) bool) {
	for node := 0; node <= a.nodes; node++ {
		for segment := range a.segments + 1 {
			a.keyAt(place{node, segment}).settle(late)
		}
	}
	a.catchUp()
}

// catchUp takes the events up to the first whose effect on the lock is not known yet.
func (a *Account) catchUp() {
	for len(a.unread) > 0 && a.unread[0].waits == 0 {
		next := a.unread[0]
		a.unread = a.unread[1:]
		a.interpret(next)
	}
}

// interpret finds out what an event means before which the truth is known.
func (a *Account) interpret(next *seen) {
	event := next.Event
	a.overdue = slices.DeleteFunc(a.overdue, func(h *Holding) bool {
		late := !event.Replied.Before(h.To.Add(aMoment))
		if late {
			a.find(expiredAtWork(a.CriticalSections, h)...)
		}
		return late
	})
	if event.Process != "" {
		if before := a.process[event.Replica]; before != "" && before != event.Process { // and nobody has noted its death
			a.endReplica(event)
		}
		a.process[event.Replica] = event.Process
	}
	s := a.saleOf(event)
	s.LastEventAt = event.Replied
	switch event.Kind {
	case KindCommand:
		a.recordCommand(s, event)
		a.recordStock(s, event)
	case KindAsks:
		a.beginWait(s, event)
	case KindObtains:
		a.enterLock(s, event)
	case KindLeaves:
		a.unlock(s, event)
	case KindLoses:
		a.find(Finding{Kind: LearnedOfLoss, At: event.Replied, Subject: s.Name})
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
		a.conclude(s, event.Replied)
	case KindTickMissed:
		a.find(Finding{Kind: MissedTick, At: event.Replied, Tick: event.Tick})
	case KindGap:
		a.markUnseen(event.Replica)
	case KindOrderBooked, KindOrderMissing, KindOrderDuplicated:
		a.compareLedger(event)
	default:
	}
}

// Standing gives what is so at a moment and may not stay so, of pairs inside together at most so many; 0: all.
func (a *Account) ProvisionalFindings(now time.Time, pairs int) (found []Finding) {
	found = append(found, a.overlapping(now, pairs)...)
	found = append(found, a.leftBehind()...)
	for _, s := range a.ActiveSales {
		found = append(found, s.wasOvertaken(now)...)
	}
	for _, holder := range slices.Sorted(maps.Keys(a.renewed)) {
		found = append(found, a.renewed[holder])
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
func (a *Account) Sale(name string) *Sale { return a.sales[name] }

func (a *Account) find(findings ...Finding) {
	for _, f := range findings {
		a.FindingCounts[f.Kind]++
		a.keepForStory(f)
		if a.alike[f.Kind]++; a.limits.MaxPerKind == 0 || a.alike[f.Kind] <= a.limits.MaxPerKind {
			a.Findings = append(a.Findings, f)
		}
	}
}

func lastReply(events []Event) time.Time { return events[len(events)-1].Replied }

// Take gives the findings since it was asked last; of many alike only some.
func (a *Account) TakeFindings() []Finding {
	taken := a.Findings
	a.Findings = nil
	clear(a.alike)
	return taken
}

const mostRemembered = 400 // sales and holdings of an account that is bounded

func (a *Account) forget() {
	if a.limits.MaxEvents == 0 {
		return
	}
	if len(a.Events)%a.limits.MaxEvents == 0 {
		a.forgotten, a.halfway = a.halfway, maps.Clone(a.FindingCounts)
		a.Events = slices.Clone(a.Events[len(a.Events)-a.limits.MaxEvents:])
	}
	if len(a.CriticalSections) > 2*mostRemembered && a.told == nil {
		a.told = a.Story()
	}
	a.Holdings, a.NodeHoldings, a.CriticalSections = latest(a.Holdings), latest(a.NodeHoldings), latest(a.CriticalSections)
	a.Stops = latest(a.Stops)
	for _, q := range a.queues {
		q.gone = latest(q.gone)
	}
	if len(a.Sales)-len(a.ActiveSales) > 2*mostRemembered {
		a.forgetSales()
	}
	if len(a.renewed) > mostRemembered {
		clear(a.renewed)
	}
}

// latest gives the latest of all; the others are forgotten now and then.
func latest[T any](all []T) []T {
	if len(all) > 2*mostRemembered {
		return slices.Clone(all[mostRemembered:])
	}
	return all
}

// forgetSales keeps those of the story, which can be drawn as long as it is told.
func (a *Account) forgetSales() {
	a.told = a.Story()
	old := len(a.Sales) - len(a.ActiveSales) - mostRemembered
	told := func(s *Sale) bool {
		return slices.ContainsFunc(a.told, func(t StoryMoment) bool { return t.Subject == s.Name || t.Other == s.Name })
	}
	a.forgetThose(func(s *Sale) bool {
		if old <= 0 || s.EndedAt.IsZero() || told(s) {
			return false
		}
		old--
		return true
	})
}

// markUnseen forgets the sales of a replica that go on: some of what it did is not known, and they may have ended.
func (a *Account) markUnseen(replica string) {
	lost := func(s *Sale) bool { return s.Replica == replica && s.EndedAt.IsZero() }
	for _, s := range a.ActiveSales {
		if lost(s) && s.inside != nil {
			a.CriticalSections = slices.DeleteFunc(a.CriticalSections, func(i *CriticalSection) bool { return i == s.inside })
			a.inside--
		}
	}
	a.ActiveSales = slices.DeleteFunc(a.ActiveSales, lost)
	a.forgetThose(lost)
}

func (a *Account) forgetThose(those func(*Sale) bool) {
	a.Sales = slices.DeleteFunc(a.Sales, func(s *Sale) bool {
		if !those(s) {
			return false
		}
		delete(a.owners, s.owner)
		if a.sales[s.Name] == s {
			delete(a.sales, s.Name)
		}
		return true
	})
}
