package seat

import (
	"context"
	"errors"
	"fmt"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/lock/strategy"
)

// MostSteps is how many steps a schedule of a reader may have.
const MostSteps = 300

// Place is where a reader is: a lock, a scenario, and a schedule so far.
type Place struct {
	Strategy strategy.Strategy
	Scenario explore.Scenario
	Schedule string
	Code     string // what its steps did when its link was made, "" if nobody knows
}

// Stale says at which step a schedule, or the code of its link, does not fit what the lock does now.
type Stale struct {
	Step int    `json:"step"` // counted from 1
	Says string `json:"says"`
}

// session goes to the place, or, if the schedule does not fit, as far as it does.
func (p Place) session(ctx context.Context) (*session.Session, *Stale, error) {
	at, err := session.NewWithContext(ctx, p.Strategy, p.Scenario, p.Schedule)
	if !errors.Is(err, explore.ErrStale) {
		return at, nil, err
	}
	fits, _ := explore.ReplayWithContext(ctx, p.Strategy, p.Scenario, p.Schedule) // it fails as before
	stale := &Stale{len(fits.Steps) + 1, err.Error()}
	if lacks := (*explore.StaleError)(nil); errors.As(err, &lacks) && lacks.Needs != "" {
		stale.Says = lacking(p.Scenario, stale.Step, lacks.Needs)
	}
	at, err = session.NewWithContext(ctx, p.Strategy, p.Scenario, fits.Schedule())
	return at, stale, err
}

// sessionOf goes to a place for a client, in a turn of its own. The session has ended; what it has seen can be read.
func (s *Seat) sessionOf(ctx context.Context, client string, p Place) (session *session.Session, stale *Stale, err error) {
	err = s.run(ctx, client, func(ctx context.Context) (err error) {
		if session, stale, err = p.session(ctx); err == nil {
			session.Close()
		}
		return err
	})
	return session, stale, err
}

// Session goes to a place for a client. It fails with explore.ErrStale if the schedule does not fit.
func (s *Seat) Session(ctx context.Context, client string, p Place) (*session.Session, error) {
	session, stale, err := s.sessionOf(ctx, client, p)
	if err == nil && stale != nil {
		err = fmt.Errorf("do: %w: %s", explore.ErrStale, stale.Says)
	}
	return session, err
}
