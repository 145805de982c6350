package seat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"lockstep/internal/api/answer"
	"lockstep/internal/api/sse"
	"lockstep/internal/explore"
	"lockstep/internal/explore/report"
	"lockstep/internal/explore/session"
)

// hint gives the next step of a shortest way from a place to an anomaly.
func (s *Seat) hint(r *http.Request) (hint session.Hint, err error) {
	p, from, err := s.session(r, true)
	if err != nil {
		return hint, err
	}
	goal := goalOf(p.Lock.Name, p.Scenario.String(), p.Anomaly)
	known := func() (ok bool) {
		hint, ok = s.hints.Get(goal + from.Now().Schedule)
		return ok
	}
	soon, cancel := s.soon(r.Context())
	defer cancel()
	err = s.turns.take(soon, s.client(r), known, nothing, func() (err error) {
		hint, err = session.ShortestPath(r.Context(), from, p.Anomaly, s.limits.Hint)
		if err == nil && hint.Steps > 0 {
			s.noteWay(goal, hint.Schedule, len(from.Path()))
		}
		return err
	})
	return hint, err
}

// goalOf names an anomaly of a lock in a scenario.
func goalOf(lock, in string, a explore.Anomaly) string { return fmt.Sprintln(lock, in, a) }

// noteWay remembers the hints along a schedule that shows an anomaly in as few steps as can be, after the first steps of it. What is left
// of such a way is a shortest one from each state on it, so who follows a hint need not wait for the next.
func (s *Seat) noteWay(goal, schedule string, first int) {
	steps := strings.Fields(schedule)
	for n := first; n < len(steps); n++ {
		s.hints.Add(goal+strings.Join(steps[:n], " "), session.Hint{Steps: len(steps) - n, Next: steps[n], Schedule: schedule})
	}
	s.hints.Add(goal+schedule, session.Hint{Schedule: schedule})
}

// tell is called with the name and the value of what there is to tell of an exploration that goes on.
type tell func(name string, value any)

// stream answers with the events of an exploration: what it tells, and at last what it has found, or its error. If there is no place in the
// line, that is the answer.
func stream(w http.ResponseWriter, find func(tell) (any, error)) error {
	events, told := sse.NewWriter(w), false
	tell := func(name string, value any) {
		told = true
		_ = events.Send(name, value) // whether somebody reads it is seen by the request's context
	}
	found, err := find(tell)
	switch {
	case err == nil:
		tell("done", found)
	case errors.Is(err, ErrBusy) && !told:
		return err
	default:
		_, code := answer.StatusOf(err)
		tell("failed", map[string]string{"code": code, "message": err.Error()})
	}
	return nil
}

// telling does what takes long, and tells four times a second what was noted last.
func telling[T any](tell tell, do func(note func(T))) {
	var last atomic.Pointer[T]
	last.Store(new(T))
	stop := every(time.Second/4, func() { tell("progress", last.Load()) })
	defer stop()
	do(func(progress T) { last.Store(&progress) })
}

// oracle tells how far an anomaly is away, at a place and all around. Meanwhile it tells how far it is.
func (s *Seat) oracle(w http.ResponseWriter, r *http.Request) error {
	p, from, err := s.session(r, true)
	if err != nil {
		return err
	}
	return stream(w, func(tell tell) (any, error) {
		drawn, err := s.mapOf(r, p, tell)
		if err != nil {
			return nil, err
		}
		var says session.Oracle
		err = s.run(r.Context(), s.client(r), func(context.Context) (err error) {
			says, err = drawn.Oracle(from, p.Anomaly)
			return err
		})
		return says, err
	})
}

// mapOf gives the map that a place is on: one that is kept, or a new one, once its turn has come. For a while it remembers which
// scenarios are too large for one, so that nobody waits to hear it again.
func (s *Seat) mapOf(r *http.Request, p report.Request, tell tell) (drawn *session.DistanceMap, err error) {
	type progress struct {
		States  int  `json:"states"`
		Waiting bool `json:"waiting"` // for its turn
	}
	name := p.Lock.Name + " " + p.Scenario.String()
	// The error speaks a language; and after a while, a bound of time or memory may suffice.
	inVain := fmt.Sprintln(name, p.Scenario.Language, time.Now().Truncate(10*time.Minute))
	var tooLarge error
	known := func() (ok bool) {
		if drawn, ok = s.maps.Get(name); !ok {
			tooLarge, ok = s.tooLarge.Get(inVain)
		}
		return ok
	}
	waiting := func() { tell("progress", progress{Waiting: true}) }
	err = s.turns.take(r.Context(), s.client(r), known, waiting, func() (err error) {
		defer explore.ReduceGC(s.limits.Map)() // nobody else explores now
		telling(tell, func(note func(progress)) {
			drawn, err = session.Draw(r.Context(), p.Lock, p.Scenario, s.limits.Map, func(n int) { note(progress{States: n}) })
		})
		switch {
		case err == nil:
			s.keepMap(name, drawn)
		case errors.Is(err, session.ErrTooLarge):
			s.tooLarge.Add(inVain, err)
		}
		return err
	})
	return drawn, cmp.Or(err, tooLarge)
}

// keepMap keeps a map. Those that were used longest ago make room; one that is larger than the bound of all is not kept.
func (s *Seat) keepMap(name string, drawn *session.DistanceMap) {
	s.maps.Add(name, drawn)
	bytes := 0
	for _, m := range s.maps.Values() {
		bytes += m.Bytes()
	}
	for bytes > s.limits.Kept {
		_, oldest, _ := s.maps.RemoveOldest()
		bytes -= oldest.Bytes()
	}
}

// Explored is what an exploration found, and the address of each schedule that shows something.
type Explored struct {
	report.ExplorationResult

	Links []string `json:"links"`
}

// explore explores a lock in a scenario, as lockstep explore does, and tells meanwhile how far it is.
func (s *Seat) explore(w http.ResponseWriter, r *http.Request) error {
	type progress struct {
		Schedules int  `json:"schedules"`
		States    int  `json:"states"`
		Depth     int  `json:"depth"`   // steps of the longest schedule
		Waiting   bool `json:"waiting"` // for its turn
	}
	request, err := requestOf(r.URL.Query())
	if err != nil {
		return err
	}
	table, err := strconv.ParseBool(cmp.Or(r.URL.Query().Get("table"), "false"))
	if err != nil {
		return fmt.Errorf("%w: table: %q; it takes true or false", errQuery, r.URL.Query().Get("table"))
	}
	request.Bounds = s.limits.Explore
	return stream(w, func(tell tell) (any, error) {
		e := Explored{Links: []string{}}
		waiting := func() { tell("progress", progress{Waiting: true}) }
		err := s.turns.take(r.Context(), s.client(r), never, waiting, func() (err error) {
			defer explore.ReduceGC(request.Bounds)() // nobody else explores now
			telling(tell, func(note func(progress)) {
				request.Progress = func(r explore.Result) { note(progress{r.Schedules, r.States, r.Depth, false}) }
				if table {
					e.ExplorationResult, err = request.ProveAllScenarios(r.Context())
				} else {
					e.ExplorationResult, err = request.Result(r.Context())
				}
			})
			if err == nil && r.Context().Err() != nil {
				err = ErrLeft // what it says of itself is of no use to others
			}
			return err
		})
		for i, shown := range e.Counterexamples {
			link := Link(request.Lock.Name, e.Scenario, shown.Trace)
			e.Links = append(e.Links, link+"&anomaly="+string(e.Document.Counterexamples[i].Anomaly))
		}
		return e, err
	})
}
