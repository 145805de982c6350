package live

import (
	"slices"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/watch/witness"
)

const (
	mostEvents   = 1 << 15 // of a run that are kept, for GET /live/pair
	mostExamined = 1500    // the latest, which are examined
	mostOthers   = 1 << 14 // events of other runs, which may be the next
)

// scene is one run, as far as it has been seen.
type scene struct {
	last     Look
	can      Can
	excludes bool      // sales of this run are meant to be inside one at a time
	moved    time.Time // when the last lanes were made
	news     bool      // something has happened since
	stirs    bool      // since the last look

	began   time.Time       // of the first event; zero: nothing has happened
	events  []witness.Event // in order, the latest
	dropped bool            // there were more before
	carried map[int][]witness.Event
	others  []witness.Event

	sales  map[string]*sale // by short name
	asked  []*sale          // those in the order in which they asked
	going  int              // sales
	stops  []stop
	closed []*sale // whose sections have ended, the latest
	fresh  []Section
	found  *findings
	stock  stock
	judged witness.Account // of the latest events
	told   string          // by the last tally
}

func newScene(look Look, can Can) *scene {
	if look.Replicas == nil {
		look.Replicas = []string{}
	}
	return &scene{
		last: look, can: can, excludes: excludes(look.Report.Lock), news: true, sales: map[string]*sale{},
		carried: map[int][]witness.Event{}, found: newFindings(),
	}
}

func (s *scene) run() string { return s.last.Report.RunID }

// runFrame says which run it is.
func (s *scene) runFrame(fresh bool) func(language.Language) any {
	r := s.last.Report
	frame := RunFrame{
		Fresh: fresh, RunID: r.RunID, Lock: r.Lock, Initial: r.Initial, Settings: s.last.Settings, Replicas: s.last.Replicas, Can: s.can,
	}
	row, err := evolution.Find(r.Lock)
	return func(in language.Language) any {
		said := frame
		said.Kinds = kinds(r.Lock, in)
		if err == nil {
			said.Title = row.Title.In(in)
		}
		return said
	}
}

// changes reports whether a look tells something else about the run, and takes it.
func (s *scene) changes(look Look) bool {
	if look.Replicas == nil {
		look.Replicas = s.replicas()
	}
	changed := s.last.Settings != look.Settings || !slices.Equal(s.last.Replicas, look.Replicas)
	s.last.Settings, s.last.Replicas = look.Settings, look.Replicas
	return changed
}

// look takes a look's numbers.
func (s *scene) look(look Look) {
	s.last.Report = look.Report
	if s.going == 0 && look.Report.InFlight == 0 {
		s.stock.settle(look.Report)
	}
}

// replicas are those that events name.
func (s *scene) replicas() []string {
	names := slices.Clone(s.last.Replicas)
	for _, sale := range s.asked {
		if !slices.Contains(names, sale.replica) {
			names = append(names, sale.replica)
		}
	}
	slices.Sort(names)
	return names
}

// see takes the next event in order. It reports whether the event belongs to a run that is not known yet, or no more.
func (s *scene) see(event witness.Event) (other bool) {
	if event.Kind == witness.KindGap {
		return false
	}
	if s.isOther(event) {
		if s.others = append(s.others, event); len(s.others) > mostOthers {
			s.others = slices.Clone(s.others[mostOthers/2:])
		}
		return event.Kind == witness.KindAsks
	}
	if s.began.IsZero() {
		s.began = event.Sent
	}
	s.news, s.stirs = true, true
	s.keep(event)
	s.ofSale(event)
	s.stock.see(s, event)
	return false
}

// isOther reports whether an event is of another run.
func (s *scene) isOther(event witness.Event) bool {
	switch {
	case event.Kind == witness.KindAsks:
		return event.Run != s.run()
	case event.Sale == "":
		return s.began.IsZero()
	default:
		return s.sales[event.Sale] == nil
	}
}

// keep keeps an event for some time.
func (s *scene) keep(event witness.Event) {
	s.events = append(s.events, event)
	if cut := len(s.events) - mostExamined; cut > 0 {
		s.carry(s.events[cut-1])
	}
	if len(s.events) > 2*mostEvents {
		s.events, s.dropped = slices.Clone(s.events[mostEvents:]), true
	}
}

// carry notes what an event that is examined no more did to the lock, if it is so still.
func (s *scene) carry(event witness.Event) {
	c := event.Command
	if c == nil || c.Outcome != witness.Done && c.Outcome != witness.Passed {
		return
	}
	switch c.Verb {
	case witness.Takes:
		s.carried[event.Node] = []witness.Event{event}
	case witness.Renews:
		if taken := s.carried[event.Node]; len(taken) > 0 {
			s.carried[event.Node] = []witness.Event{taken[0], event}
		}
	case witness.Removes:
		delete(s.carried, event.Node)
	default:
	}
}

// examined are the latest events, after those that say whose the lock was before.
func (s *scene) examined() []witness.Event {
	cut := max(0, len(s.events)-mostExamined)
	var all []witness.Event
	if cut > 0 {
		for _, events := range s.carried {
			all = append(all, events...)
		}
	}
	return append(all, s.events[cut:]...)
}

// examine says what the latest events mean.
func (s *scene) examine(now time.Time) {
	if !s.news {
		return
	}
	events := s.examined()
	s.judged = witness.Glance(events)
	certain := time.Time{} // from then on, enough of what came before is examined, too
	if len(events) >= mostExamined {
		certain = events[len(events)/3].Replied
	}
	s.found.take(s, s.judged.Findings, certain, now)
}

// excludes reports whether sales under a lock are meant to be inside one at a time.
func excludes(lock string) bool {
	row, err := evolution.Find(lock)
	return err == nil && row.Update != strategy.Atomic && row.Update != strategy.CheckAndSet
}

// at gives a time as frames do.
func (s *scene) at(t time.Time) int64 {
	if s.began.IsZero() || t.IsZero() {
		return 0
	}
	return t.Sub(s.began).Milliseconds()
}
