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
	mostEvents = 1 << 14                // of a run that are kept, for GET /live/pair and to tell the run again
	mostOthers = 1 << 14                // events of other runs, which may be the next
	lateReply  = 250 * time.Millisecond // how long a reply may take that explains another
)

// scene is one run, as far as it has been seen.
type scene struct {
	last  RunState
	can   Controls
	moved time.Time // when the last lanes were made
	news  bool      // something has happened since
	stirs bool      // since the last look

	began   time.Time // of the first event; zero: nothing has happened
	latest  time.Time // when the last event that was recorded was over
	account *witness.Account
	others  []witness.Event // of other runs
	late    []witness.Event // of this run, not recorded: the first was over before latest
	found   *findings
	names   *names
	stock   stock
	told    string // by the last tally
	tale    tale
}

// newScene begins a run. Of replicas that are known from the run before, each has the same place in whatever hub shows them.
func newScene(look RunState, can Controls, before []string) *scene {
	called := newNames(look.Replicas)
	called.addReplicas(slices.Sorted(slices.Values(before))...)
	limits := witness.Limits{
		MaxEvents: mostEvents, MaxPerKind: mostOfKind, MaxReplyDelay: lateReply, AllowOverlap: !isExclusive(look.Report.Lock),
	}
	return &scene{last: look, can: can, news: true, account: witness.NewAccount(limits), found: newFindings(), names: called}
}

func (s *scene) run() string { return s.last.Report.RunID }

func (s *scene) runFrame(fresh bool) texts {
	r := s.last.Report
	frame := RunFrame{
		Fresh: fresh, RunID: r.RunID, Lock: r.Lock, Initial: r.Initial, Settings: s.last.Settings, Hosts: s.names.hosts(), Controls: s.can,
		Replicas: append([]string{}, s.names.replicas...),
	}
	for i, name := range frame.Replicas {
		frame.Replicas[i] = s.names.replica(name)
	}
	row, err := evolution.Find(r.Lock)
	return inAll(func(in language.Language) any {
		frame.Kinds = kinds(r.Lock, in)
		if err == nil {
			frame.Title = row.Title.In(in)
		}
		return frame
	})
}

// changes reports whether a look tells something else about the run, and takes it.
func (s *scene) changes(look RunState) bool {
	s.names.addReplicas(look.Replicas...)
	changed := s.last.Settings != look.Settings || !slices.Equal(s.last.Replicas, s.names.replicas)
	s.last.Settings, s.last.Replicas = look.Settings, slices.Clone(s.names.replicas)
	return changed
}

// look takes a look's numbers.
func (s *scene) look(look RunState) {
	s.last.Report = look.Report
	if len(s.account.ActiveSales) == 0 && look.Report.InFlight == 0 {
		s.news = s.stock.settle(look.Report) || s.news
	}
}

// see takes the next event, or, if that was over before the last, one that is late: retell gives it its place. It reports whether the event
// belongs to a run that is not known yet, or no more.
func (s *scene) see(event witness.Event) (other bool) {
	switch {
	case event.Kind == witness.KindGap && s.began.IsZero():
		return false
	case event.Kind == witness.KindGap:
		event.Sent, event.Replied = s.latest, s.latest
	case s.isOther(event):
		if s.others = append(s.others, event); len(s.others) > mostOthers {
			s.others = slices.Clone(s.others[mostOthers/2:])
		}
		return event.Kind == witness.KindAsks
	case event.Kind == witness.KindAsks:
		s.names.nameSale(s.account, event)
	}
	event = s.names.event(event)
	if len(s.late) > 0 || event.Replied.Before(s.latest) {
		s.late = append(s.late, event)
		return false
	}
	s.record(event)
	return false
}

// record takes the next event, which has its names.
func (s *scene) record(event witness.Event) {
	if s.began.IsZero() {
		s.began = event.Sent
	}
	s.latest = event.Replied
	s.news, s.stirs = true, true
	switch event.Kind {
	case witness.KindDies, witness.KindStops, witness.KindResumes, witness.KindCutOff, witness.KindReconnects, witness.KindEmptied:
		s.found.addReplicaEvent(s, event)
	default:
	}
	s.account.Record(event)
	s.stock.see(s, event)
}

func (s *scene) isOther(event witness.Event) bool {
	switch {
	case event.Kind == witness.KindAsks:
		return event.Run != s.run()
	case event.Sale == "":
		return s.began.IsZero()
	default:
		name := s.names.of(event.Sale)
		isLate := slices.ContainsFunc(s.late, func(late witness.Event) bool { return late.Sale == name })
		return s.account.Sale(name) == nil && !isLate
	}
}

// sections are the critical sections that have ended since it was asked last.
func (s *scene) sections() (sections SectionsFrame) {
	for _, i := range s.account.EndedSections {
		sections = append(sections, CriticalSection{
			Sale: i.Sale, Replica: witness.ReplicaOf(i.Sale), From: s.at(i.From), To: s.at(i.To), Overlaps: i.Overlaps, OverlapCount: i.OverlapCount,
		})
	}
	s.account.EndedSections = nil
	return sections
}

// tally is what the ledger says, in numbers and in words; nil if that is nothing new.
func (s *scene) tally() texts {
	report, found := s.last.Report, s.found.counts(s.account)
	if report.Lost > 0 { // by the ledger: of some, the witness saw only that they are lost to one another
		found[string(witness.LostUpdate)] = int(report.Lost)
	}
	words := meaning(report)
	if report.Verdict == verdict.Pass && (report.InFlight > 0 || s.broke()) {
		report.Verdict = verdict.Untested
		if report.InFlight == 0 {
			words = byLuck(report)
		}
	}
	text := fmt.Sprint(report, found)
	if text == s.told {
		return nil
	}
	s.told = text
	return inAll(func(in language.Language) any {
		return TallyFrame{Report: report, Sentence: words.In(in), FindingCounts: found}
	})
}

// broke reports whether the lock did not keep its promise, though the ledger may be right. A token makes good for that.
func (s *scene) broke() bool {
	row, err := evolution.Find(s.last.Report.Lock)
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

func (s *scene) at(t time.Time) int64 {
	if s.began.IsZero() || t.IsZero() {
		return 0
	}
	return t.Sub(s.began).Milliseconds()
}

// maybeAt gives a time that there may not be; null if there is none.
func (s *scene) maybeAt(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	at := s.at(t)
	return &at
}

// mostPoints is how many points of the stock a frame has.
const mostPoints = 20

// stock is the two lines that part when updates are lost.
type stock struct {
	before int64 // sold before what was counted
	wrote  int64 // writes that were counted
	points []StockPoint
	last   StockPoint
	left   map[int]int64 // in each segment that was written
}

func (s *stock) sold() int64 { return s.before + s.wrote }

// settle takes the ledger's count and the stock while no sale goes on: the sales that were counted here are a part of it, and the reply
// that came last may be that of an earlier write. It reports whether the lines have another end now.
func (s *stock) settle(report history.Report) (changed bool) {
	if s.wrote == 0 || report.Sold < s.wrote {
		return false
	}
	s.before = report.Sold - s.wrote
	if s.last.Stock == report.Remaining && s.last.Sold == report.Sold {
		return false
	}
	s.add(StockPoint{At: s.last.At + 1, Stock: report.Remaining, Sold: report.Sold})
	return true
}

func (s *stock) add(point StockPoint) {
	s.points = append(s.points, point)
	s.last = point
}

func (s *stock) see(scene *scene, event witness.Event) {
	c := event.Command
	if c == nil || c.Verb != witness.Writes || c.Outcome != witness.Done {
		return
	}
	if event.Segment > 0 {
		s.seeSegment(scene, event)
		return
	}
	if s.wrote == 0 { // if the run had begun before, its stock says how far it was, as long as no update was lost
		s.before = max(0, scene.last.Report.Initial-1-c.Stock)
		s.add(StockPoint{Stock: c.Stock + 1, Sold: s.before})
	}
	s.wrote++
	s.add(StockPoint{At: scene.at(event.Replied), Stock: c.Stock, Sold: s.sold()})
}

// seeSegment is see of a write in one segment. Of the first in each it is not known what was there before: it took one.
func (s *stock) seeSegment(scene *scene, event witness.Event) {
	left := event.Command.Stock
	if s.wrote == 0 {
		r := scene.last.Report
		s.before, s.left = max(0, r.Initial-r.Remaining), map[int]int64{}
		s.add(StockPoint{Stock: r.Remaining, Sold: s.before})
	}
	before, known := s.left[event.Segment]
	if !known {
		before = left + 1
	}
	s.left[event.Segment] = left
	s.wrote++
	s.add(StockPoint{At: scene.at(event.Replied), Stock: max(0, s.last.Stock-(before-left)), Sold: s.sold()})
}

// newPoints gives the points since it was asked last: so few that they can be drawn, and always the last.
func (s *scene) newPoints() StockFrame {
	points := s.stock.points
	s.stock.points = nil
	if len(points) <= mostPoints {
		return points
	}
	var few StockFrame
	for i := 1; i <= mostPoints; i++ {
		few = append(few, points[i*len(points)/mostPoints-1])
	}
	return few
}
