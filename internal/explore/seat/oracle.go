package seat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/explore/graph"
	"lockstep/internal/explore/stepper"
)

// hint gives the next step of a shortest way to an anomaly.
func (s *Seat) hint(w http.ResponseWriter, r *http.Request) error {
	session, a, err := s.sessionFor(r)
	if err != nil {
		return err
	}
	goal, here := goalIn(session.Strategy().Name, session.Scenario(), a), session.Now().Schedule
	hint, known := s.ways.after(goal, here)
	if !known {
		err = s.turns.alone(r.Context(), s.limits.Client(r), s.limits.Longer, func() (err error) {
			if hint, known = s.ways.after(goal, here); known { // somebody has asked the same meanwhile
				return nil
			}
			hint, err = graph.Away(r.Context(), session, a, s.limits.Hint)
			if err == nil && hint.Steps > 0 {
				s.ways.note(goal, len(session.Path()), hint.Schedule)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return answer(w, hint)
}

// sessionFor returns the one that a request is about, and the anomaly.
func (s *Seat) sessionFor(r *http.Request) (*stepper.Session, explore.Anomaly, error) {
	p, err := placeOf(r.URL.Query())
	if err != nil {
		return nil, "", err
	}
	a, err := anomalyOf(r.URL.Query(), p.strategy)
	if err != nil {
		return nil, "", err
	}
	session, stale, err := s.sessionOf(r, p)
	if err == nil && stale != nil {
		err = fmt.Errorf("do: %w: %s", explore.ErrStale, stale.Says)
	}
	return session, a, err
}

// oracle says how far an anomaly is away, here and all around.
func (s *Seat) oracle(w http.ResponseWriter, r *http.Request) error {
	session, a, err := s.sessionFor(r)
	if err != nil {
		return err
	}
	return s.stream(w, r, func(stream *events) error {
		drawn, err := s.mapOf(r.Context(), session, stream)
		if err != nil {
			return err
		}
		return s.run(r.Context(), s.limits.Client(r), func(context.Context) error {
			says, err := drawn.Oracle(session, a)
			if err == nil {
				stream.send("done", says)
			}
			return err
		})
	})
}

// mapOf gives the map that a session is on: one that is kept, or a new one, once its turn has come.
func (s *Seat) mapOf(ctx context.Context, session *stepper.Session, stream *events) (drawn *graph.Map, err error) {
	in := session.Scenario()
	name := session.Strategy().Name + " " + in.String()
	known := func() bool {
		drawn, err = s.maps.get(name, in.Language)
		return drawn != nil || err != nil
	}
	waiting := func() { stream.send("progress", progress{Waiting: true}) }
	left := stream.ticket.once(ctx, known, waiting, func() {
		var states atomic.Int64
		stop := every(time.Second/4, func() { stream.send("progress", progress{States: int(states.Load())}) })
		defer stop()
		defer explore.CollectRarely(s.limits.Map)() // nobody else explores now
		drawn, err = graph.Draw(ctx, session.Strategy(), in, s.limits.Map, func(n int) { states.Store(int64(n)) })
		if err == nil || errors.Is(err, graph.ErrTooLarge) {
			s.maps.put(name, drawn, err, in.Language)
		}
	})
	return drawn, cmp.Or(left, err)
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
