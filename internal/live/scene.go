package live

import (
	"fmt"
	"slices"
	"time"

	"lockstep/internal/evolution"
	"lockstep/internal/language"
	"lockstep/internal/service/history"
	"lockstep/internal/verdict"
	"lockstep/internal/witness"
)

const (
	maxEvents      = 1 << 14                // of a run that are kept, for GET /live/pair and to tell the run again
	maxOtherEvents = 1 << 14                // events of other runs, which may be the next
	maxReplyDelay  = 250 * time.Millisecond // how long a reply may take that explains another
)

// scene is one run, as far as it has been seen.
type scene struct {
	state              RunState
	controls           Controls
	lanesMadeAt        time.Time // when the last lanes were made
	hasNews            bool      // something has happened since
	hasEventsSincePoll bool      // since the last look

	beganAt        time.Time // of the first event; zero: nothing has happened
	lastRecordedAt time.Time // when the last event that was recorded was over
	account        *witness.Account
	otherRunEvents []witness.Event // of other runs
	lateEvents     []witness.Event // of this run, not recorded: the first was over before latest
	findings       *findingLog
	names          *displayNames
	stock          stockLines
	lastTally      string // by the last tally
	story          storyView
}

// newScene begins a run. Of replicas that are known from the run before, each has the same place in whatever hub shows them.
func newScene(look RunState, can Controls, before []string) *scene {
	called := newDisplayNames(look.Replicas)
	called.addReplicas(slices.Sorted(slices.Values(before))...)
	limits := witness.Limits{
		MaxEvents: maxEvents, MaxPerKind: maxPerKind, MaxReplyDelay: maxReplyDelay, AllowOverlap: !isExclusive(look.Report.Lock),
	}
	return &scene{state: look, controls: can, hasNews: true, account: witness.NewAccount(limits), findings: newFindingLog(), names: called}
}

func (s *scene) runID() string { return s.state.Report.RunID }

func (s *scene) runFrame(fresh bool) localized {
	r := s.state.Report
	frame := RunFrame{
		Fresh: fresh, RunID: r.RunID, Lock: r.Lock, Initial: r.Initial, Settings: s.state.Settings, Hosts: s.names.hosts(), Controls: s.controls,
		Replicas: append([]string{}, s.names.replicas...),
	}
	for i, name := range frame.Replicas {
		frame.Replicas[i] = s.names.replica(name)
	}
	row, err := evolution.Find(r.Lock)
	return localize(func(in language.Language) any {
		frame.Kinds = findingKinds(r.Lock, in)
		if err == nil {
			frame.Title = row.Title.In(in)
		}
		return frame
	})
}

// changes reports whether a look tells something else about the run, and takes it.
func (s *scene) updateSettings(look RunState) bool {
	s.names.addReplicas(look.Replicas...)
	changed := s.state.Settings != look.Settings || !slices.Equal(s.state.Replicas, s.names.replicas)
	s.state.Settings, s.state.Replicas = look.Settings, slices.Clone(s.names.replicas)
	return changed
}

// look takes a look's numbers.
func (s *scene) updateReport(look RunState) {
	s.state.Report = look.Report
	if len(s.account.ActiveSales) == 0 && look.Report.InFlight == 0 {
		s.hasNews = s.stock.reconcile(look.Report) || s.hasNews
	}
}

// see takes the next event, or, if that was over before the last, one that is late: retell gives it its place. It reports whether the event
// belongs to a run that is not known yet, or no more.
func (s *scene) add(event witness.Event) (other bool) {
	switch {
	case event.Kind == witness.KindGap && s.beganAt.IsZero():
		return false
	case event.Kind == witness.KindGap:
		event.Sent, event.Replied = s.lastRecordedAt, s.lastRecordedAt
	case s.isOfOtherRun(event):
		if s.otherRunEvents = append(s.otherRunEvents, event); len(s.otherRunEvents) > maxOtherEvents {
			s.otherRunEvents = slices.Clone(s.otherRunEvents[maxOtherEvents/2:])
		}
		return event.Kind == witness.KindAsks
	case event.Kind == witness.KindAsks:
		s.names.nameSale(s.account, event)
	}
	event = s.names.rename(event)
	if len(s.lateEvents) > 0 || event.Replied.Before(s.lastRecordedAt) {
		s.lateEvents = append(s.lateEvents, event)
		return false
	}
	s.record(event)
	return false
}

// record takes the next event, which has its names.
func (s *scene) record(event witness.Event) {
	if s.beganAt.IsZero() {
		s.beganAt = event.Sent
	}
	s.lastRecordedAt = event.Replied
	s.hasNews, s.hasEventsSincePoll = true, true
	switch event.Kind {
	case witness.KindDies, witness.KindStops, witness.KindResumes, witness.KindCutOff, witness.KindReconnects, witness.KindEmptied:
		s.findings.addReplicaEvent(s, event)
	default:
	}
	s.account.Record(event)
	s.stock.record(s, event)
}

func (s *scene) isOfOtherRun(event witness.Event) bool {
	switch {
	case event.Kind == witness.KindAsks:
		return event.Run != s.runID()
	case event.Sale == "":
		return s.beganAt.IsZero()
	default:
		name := s.names.name(event.Sale)
		isLate := slices.ContainsFunc(s.lateEvents, func(late witness.Event) bool { return late.Sale == name })
		return s.account.Sale(name) == nil && !isLate
	}
}

// sections are the critical sections that have ended since it was asked last.
func (s *scene) takeSections() (sections SectionsFrame) {
	for _, i := range s.account.EndedSections {
		sections = append(sections, CriticalSection{
			Sale: i.Sale, Replica: witness.ReplicaOf(i.Sale), From: s.millis(i.From), To: s.millis(i.To), Overlaps: i.Overlaps, OverlapCount: i.OverlapCount,
		})
	}
	s.account.EndedSections = nil
	return sections
}

// tally is what the ledger says, in numbers and in words; nil if that is nothing new.
func (s *scene) changedTally() localized {
	report, found := s.state.Report, s.findings.counts(s.account)
	if report.Lost > 0 { // by the ledger: of some, the witness saw only that they are lost to one another
		found[string(witness.LostUpdate)] = int(report.Lost)
	}
	words := reportText(report)
	if report.Verdict == verdict.Pass && (report.InFlight > 0 || s.isLockBroken()) {
		report.Verdict = verdict.Untested
		if report.InFlight == 0 {
			words = passByLuck(report)
		}
	}
	text := fmt.Sprint(report, found)
	if text == s.lastTally {
		return nil
	}
	s.lastTally = text
	return localize(func(in language.Language) any {
		return TallyFrame{Report: report, Sentence: words.In(in), FindingCounts: found}
	})
}

// broke reports whether the lock did not keep its promise, though the ledger may be right. A token makes good for that.
func (s *scene) isLockBroken() bool {
	row, err := evolution.Find(s.state.Report.Lock)
	if err == nil && row.Capabilities.Fenced {
		return false
	}
	found := s.account.FindingCounts
	broken := []witness.FindingKind{
		witness.Overlapped, witness.RemovedLock, witness.OverwroteLock, witness.ProlongedLock, witness.RedisLostLock,
	}
	return slices.ContainsFunc(broken, func(kind witness.FindingKind) bool { return found[kind] > 0 })
}

// isExclusive reports whether sales under a lock are meant to be inside one at a time.
func isExclusive(lock string) bool {
	row, err := evolution.Find(lock)
	return err == nil && row.Update.IsExclusive()
}

func (s *scene) millis(t time.Time) int64 {
	if s.beganAt.IsZero() || t.IsZero() {
		return 0
	}
	return t.Sub(s.beganAt).Milliseconds()
}

// maybeAt gives a time that there may not be; null if there is none.
func (s *scene) optionalMillis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	at := s.millis(t)
	return &at
}

// mostPoints is how many points of the stock a frame has.
const maxPoints = 20

// stock is the two lines that part when updates are lost.
type stockLines struct {
	soldBefore int64 // sold before what was counted
	writes     int64 // writes that were counted
	points     []StockPoint
	last       StockPoint
	remaining  map[int]int64 // in each segment that was written
}

func (s *stockLines) sold() int64 { return s.soldBefore + s.writes }

// settle takes the ledger's count and the stock while no sale goes on: the sales that were counted here are a part of it, and the reply
// that came last may be that of an earlier write. It reports whether the lines have another end now.
func (s *stockLines) reconcile(report history.Report) (changed bool) {
	if s.writes == 0 || report.Sold < s.writes {
		return false
	}
	s.soldBefore = report.Sold - s.writes
	if s.last.Stock == report.Remaining && s.last.Sold == report.Sold {
		return false
	}
	s.add(StockPoint{At: s.last.At + 1, Stock: report.Remaining, Sold: report.Sold})
	return true
}

func (s *stockLines) add(point StockPoint) {
	s.points = append(s.points, point)
	s.last = point
}

func (s *stockLines) record(scene *scene, event witness.Event) {
	c := event.Command
	if c == nil || c.Verb != witness.Writes || c.Outcome != witness.Done {
		return
	}
	if event.Segment > 0 {
		s.recordSegment(scene, event)
		return
	}
	if s.writes == 0 { // if the run had begun before, its stock says how far it was, as long as no update was lost
		s.soldBefore = max(0, scene.state.Report.Initial-1-c.Stock)
		s.add(StockPoint{Stock: c.Stock + 1, Sold: s.soldBefore})
	}
	s.writes++
	s.add(StockPoint{At: scene.millis(event.Replied), Stock: c.Stock, Sold: s.sold()})
}

// seeSegment is see of a write in one segment. Of the first in each it is not known what was there before: it took one.
func (s *stockLines) recordSegment(scene *scene, event witness.Event) {
	left := event.Command.Stock
	if s.writes == 0 {
		r := scene.state.Report
		s.soldBefore, s.remaining = max(0, r.Initial-r.Remaining), map[int]int64{}
		s.add(StockPoint{Stock: r.Remaining, Sold: s.soldBefore})
	}
	before, known := s.remaining[event.Segment]
	if !known {
		before = left + 1
	}
	s.remaining[event.Segment] = left
	s.writes++
	s.add(StockPoint{At: scene.millis(event.Replied), Stock: max(0, s.last.Stock-(before-left)), Sold: s.sold()})
}

// newPoints gives the points since it was asked last: so few that they can be drawn, and always the last.
func (s *scene) takePoints() StockFrame {
	points := s.stock.points
	s.stock.points = nil
	if len(points) <= maxPoints {
		return points
	}
	var few StockFrame
	for i := 1; i <= maxPoints; i++ {
		few = append(few, points[i*len(points)/maxPoints-1])
	}
	return few
}
