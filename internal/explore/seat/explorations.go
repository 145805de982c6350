package seat

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/explore/report"
	"lockstep/internal/explore/session"
	"lockstep/internal/shop/answer"
	"lockstep/internal/shop/sse"
)

const (
	mostHints   = 10_000
	mostMaps    = 1_000            // and scenarios that are too large for one
	tooLargeFor = 10 * time.Minute // by then, a bound of time or memory may suffice
)

// tell is called with the name and the value of what there is to tell of an exploration that goes on.
type tell func(name string, value any)

// stream answers with the events of an exploration: what it tells, and at last what it has found, or its error.
func (s *Seat) stream(w http.ResponseWriter, r *http.Request, explore func(*ticket, tell) (any, error)) error {
	place, err := s.turns.join(s.client(r))
	if err != nil {
		return err
	}
	defer place.leave()
	stream := sse.NewWriter(w)
	tell := func(name string, value any) { _ = stream.Send(name, value) } // whether somebody reads it is seen by the request's context
	found, err := explore(place, tell)
	if err != nil {
		_, code := answer.StatusOf(err)
		tell("failed", map[string]string{"code": code, "message": err.Error()})
		return nil
	}
	tell("done", found)
	return nil
}

// hint gives the next step of a shortest way from a place to an anomaly.
func (s *Seat) hint(r *http.Request) (hint session.Hint, err error) {
	from, a, err := s.session(r)
	if err != nil {
		return hint, err
	}
	goal, here := goalOf(from.Strategy().Name, from.Scenario().String(), a), from.Now().Schedule
	hint, known := s.hints.Get(goal + here)
	if known {
		return hint, nil
	}
	err = s.turns.alone(r.Context(), s.client(r), s.limits.Longer, func() (err error) {
		if hint, known = s.hints.Get(goal + here); known { // somebody has asked the same meanwhile
			return nil
		}
		hint, err = session.Away(r.Context(), from, a, s.limits.Hint)
		if err == nil && hint.Steps > 0 {
			s.noteWay(goal, hint.Schedule, len(from.Path()))
		}
		return err
	})
	return hint, err
}

// goalOf names an anomaly of a lock in a scenario.
func goalOf(lock, in string, a explore.Anomaly) string {
	return lock + "\n" + in + "\n" + string(a) + "\n"
}

// noteWay remembers the hints along a schedule that shows an anomaly in as few steps as can be, after the first steps of it. What is left
// of such a way is a shortest one from each state on it, so who follows a hint need not wait for the next.
func (s *Seat) noteWay(goal, schedule string, first int) {
	steps := strings.Fields(schedule)
	for n := first; n < len(steps); n++ {
		s.hints.Add(goal+strings.Join(steps[:n], " "), session.Hint{Steps: len(steps) - n, Next: steps[n], Schedule: schedule})
	}
	s.hints.Add(goal+schedule, session.Hint{Schedule: schedule})
}

// oracle tells how far an anomaly is away, at a place and all around. Meanwhile it tells how far it is.
func (s *Seat) oracle(w http.ResponseWriter, r *http.Request) error {
	from, a, err := s.session(r)
	if err != nil {
		return err
	}
	return s.stream(w, r, func(t *ticket, tell tell) (any, error) {
		drawn, err := s.mapOf(r.Context(), t, from, tell)
		if err != nil {
			return nil, err
		}
		var says session.Oracle
		err = s.run(r.Context(), t.client, func(context.Context) (err error) {
			says, err = drawn.Oracle(from, a)
			return err
		})
		return says, err
	})
}

// knownMap is what is known of a scenario: its map, or why there is none.
type knownMap struct {
	drawn *session.Map
	err   error
	until time.Time // when the error is forgotten
}

// mapOf gives the map that a session is on: one that is kept, or a new one, once its turn has come. For a while it remembers which
// scenarios are too large for one, so that nobody waits to hear it again.
func (s *Seat) mapOf(ctx context.Context, t *ticket, from *session.Session, tell tell) (*session.Map, error) {
	type progress struct {
		States  int  `json:"states"`
		Waiting bool `json:"waiting"` // for its turn
	}
	in := from.Scenario()
	name := from.Strategy().Name + " " + in.String()
	inVain := name + " " + string(in.Language) // that the error speaks
	var m knownMap
	known := func() (ok bool) {
		if m, ok = s.maps.Get(name); !ok {
			m, ok = s.maps.Get(inVain)
		}
		return ok && (m.err == nil || time.Now().Before(m.until))
	}
	waiting := func() { tell("progress", progress{Waiting: true}) }
	left := t.once(ctx, known, waiting, func() {
		var states atomic.Int64
		stop := every(time.Second/4, func() { tell("progress", progress{States: int(states.Load())}) })
		defer stop()
		defer explore.CollectRarely(s.limits.Map)() // nobody else explores now
		m.drawn, m.err = session.Draw(ctx, from.Strategy(), in, s.limits.Map, func(n int) { states.Store(int64(n)) })
		m.until = time.Now().Add(tooLargeFor)
		switch {
		case m.err == nil:
			s.maps.Add(name, m)
			s.makeRoom()
		case errors.Is(m.err, session.ErrTooLarge):
			s.maps.Add(inVain, m)
		}
	})
	return m.drawn, cmp.Or(left, m.err)
}

// makeRoom drops what was used longest ago, until the maps fit into their bound. One that is larger than that is not kept.
func (s *Seat) makeRoom() {
	for {
		bytes := 0
		for _, m := range s.maps.Values() {
			if m.drawn != nil {
				bytes += m.drawn.Bytes()
			}
		}
		if bytes <= s.limits.Kept {
			return
		}
		s.maps.RemoveOldest()
	}
}

// Explored is what an exploration found, and the address of each schedule that shows something.
type Explored struct {
	report.Outcome

	Links []string `json:"links"`
}

// explore explores a lock in a scenario, as lockstep explore does, and tells meanwhile how far it is.
func (s *Seat) explore(w http.ResponseWriter, r *http.Request) error {
	request, err := requestOf(r.URL.Query())
	if err != nil {
		return err
	}
	request.Bounds = s.limits.Explore
	return s.stream(w, r, func(t *ticket, tell tell) (any, error) { return explored(r.Context(), t, request, tell) })
}

func explored(ctx context.Context, t *ticket, request report.Request, tell tell) (e Explored, err error) {
	type progress struct {
		Schedules int  `json:"schedules"`
		States    int  `json:"states"`
		Depth     int  `json:"depth"`   // steps of the longest schedule
		Waiting   bool `json:"waiting"` // for its turn
	}
	end, err := t.begin(ctx, func() { tell("progress", progress{Waiting: true}) })
	if err != nil {
		return e, err
	}
	defer end()
	var now atomic.Pointer[progress]
	now.Store(&progress{})
	request.Progress = func(r explore.Result) { now.Store(&progress{Schedules: r.Schedules, States: r.States, Depth: r.Depth}) }
	stop := every(time.Second/4, func() { tell("progress", now.Load()) })
	defer stop()
	defer explore.CollectRarely(request.Bounds)() // nobody else explores now
	if e.Outcome, err = request.Outcome(ctx); err == nil && ctx.Err() != nil {
		err = ErrLeft // what it says of itself is of no use to others
	}
	e.Links = []string{}
	for i, shown := range e.Shown {
		link := Link(request.Lock.Name, e.Scenario, shown.Trace.Schedule(), Code(shown.Trace))
		e.Links = append(e.Links, link+"&anomaly="+string(e.Document.Counterexamples[i].Anomaly))
	}
	return e, err
}

// every does something again and again, until it is stopped. Then nothing is done any more.
func every(pause time.Duration, do func()) (stop func()) {
	ended, stopping := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for ticker := time.NewTicker(pause); ; {
			select {
			case <-ticker.C:
				do()
			case <-stopping:
				ticker.Stop()
				return
			}
		}
	}()
	return func() { close(stopping); <-ended }
}
