package seat

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
)

// Hint gives a client the next step of a shortest way from a session to an anomaly.
func (s *Seat) Hint(ctx context.Context, client string, from *session.Session, a explore.Anomaly) (hint session.Hint, err error) {
	goal, here := goalIn(from.Strategy().Name, from.Scenario(), a), from.Now().Schedule
	hint, known := s.ways.after(goal, here)
	if !known {
		err = s.turns.alone(ctx, client, s.limits.Longer, func() (err error) {
			if hint, known = s.ways.after(goal, here); known { // somebody has asked the same meanwhile
				return nil
			}
			hint, err = session.Away(ctx, from, a, s.limits.Hint)
			if err == nil && hint.Steps > 0 {
				s.ways.note(goal, len(from.Path()), hint.Schedule)
			}
			return err
		})
	}
	return hint, err
}

// Oracle tells how far an anomaly is away, where a session is and all around. Meanwhile it tells how far it is.
func (s *Seat) Oracle(
	ctx context.Context, t *Ticket, from *session.Session, a explore.Anomaly, tell Tell,
) (says session.Oracle, err error) {
	drawn, err := s.mapOf(ctx, t, from, tell)
	if err != nil {
		return says, err
	}
	err = s.run(ctx, t.client, func(context.Context) (err error) {
		says, err = drawn.Oracle(from, a)
		return err
	})
	return says, err
}

// Tell is called with the name and the value of what there is to tell of an exploration that goes on.
type Tell func(name string, value any)

// progress says how far an exploration has come.
type progress struct {
	States  int  `json:"states"`
	Waiting bool `json:"waiting"` // for its turn
}

// mapOf gives the map that a session is on: one that is kept, or a new one, once its turn has come.
func (s *Seat) mapOf(ctx context.Context, t *Ticket, from *session.Session, tell Tell) (drawn *session.Map, err error) {
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
