package seat

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/explore/report"
	"lockstep/internal/explore/session"
	"lockstep/internal/shop/answer"
	"lockstep/internal/shop/sse"
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
	goal, here := goalIn(from.Strategy().Name, from.Scenario(), a), from.Now().Schedule
	hint, known := s.ways.after(goal, here)
	if known {
		return hint, nil
	}
	err = s.turns.alone(r.Context(), s.client(r), s.limits.Longer, func() (err error) {
		if hint, known = s.ways.after(goal, here); known { // somebody has asked the same meanwhile
			return nil
		}
		hint, err = session.Away(r.Context(), from, a, s.limits.Hint)
		if err == nil && hint.Steps > 0 {
			s.ways.note(goal, len(from.Path()), hint.Schedule)
		}
		return err
	})
	return hint, err
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

// mapOf gives the map that a session is on: one that is kept, or a new one, once its turn has come.
func (s *Seat) mapOf(ctx context.Context, t *ticket, from *session.Session, tell tell) (drawn *session.Map, err error) {
	type progress struct {
		States  int  `json:"states"`
		Waiting bool `json:"waiting"` // for its turn
	}
	in := from.Scenario()
	name := from.Strategy().Name + " " + in.String()
	known := func() bool {
		drawn, err = s.maps.get(name, in.Language)
		return drawn != nil || err != nil
	}
	waiting := func() { tell("progress", progress{Waiting: true}) }
	left := t.once(ctx, known, waiting, func() {
		var states atomic.Int64
		stop := every(time.Second/4, func() { tell("progress", progress{States: int(states.Load())}) })
		defer stop()
		defer explore.CollectRarely(s.limits.Map)() // nobody else explores now
		drawn, err = session.Draw(ctx, from.Strategy(), in, s.limits.Map, func(n int) { states.Store(int64(n)) })
		if err == nil || errors.Is(err, session.ErrTooLarge) {
			s.maps.put(name, drawn, err, in.Language)
		}
	})
	return drawn, cmp.Or(left, err)
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
