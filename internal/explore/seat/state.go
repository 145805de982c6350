package seat

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/lock"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/trace"
	"lockstep/internal/web"
)

// State is all there is to show of a place.
type State struct {
	View  session.View `json:"view"`
	Code  string       `json:"code"`
	Link  string       `json:"link"`
	Stale *Stale       `json:"stale"`
}

// Stale says at which step a schedule, or the code of its link, does not fit what the lock does now.
type Stale struct {
	Step int    `json:"step"` // counted from 1
	Says string `json:"says"`
}

// state shows a place.
func (s *Seat) state(r *http.Request) (state State, err error) {
	p, err := placeOf(r.URL.Query())
	if err != nil {
		return state, err
	}
	at, stale, err := s.goTo(r, p)
	if err != nil {
		return state, fmt.Errorf("do: %w", err)
	}
	view := at.Now()
	code := Code(view.Trace)
	if step := differs(p.code, code); step > 0 && (stale == nil || step < stale.Step) {
		stale = &Stale{step, otherwise(p.scenario, step, view.Trace.Steps[step-1])}
	}
	return State{View: view, Code: code, Link: Link(view.Lock, view.Scenario, view.Schedule, code), Stale: stale}, nil
}

// goTo goes to a place in a turn of its own, or, if the schedule does not fit, as far as it does. The session has ended; what it has seen
// can be read.
func (s *Seat) goTo(r *http.Request, p place) (at *session.Session, stale *Stale, err error) {
	err = s.run(r.Context(), s.client(r), func(ctx context.Context) error {
		at, err = session.NewWithContext(ctx, p.strategy, p.scenario, p.schedule)
		if errors.Is(err, explore.ErrStale) {
			fits, _ := explore.ReplayWithContext(ctx, p.strategy, p.scenario, p.schedule) // it fails as before
			stale = &Stale{len(fits.Steps) + 1, err.Error()}
			if lacks := (*explore.StaleError)(nil); errors.As(err, &lacks) && lacks.Needs != "" {
				stale.Says = lacking(p.scenario, stale.Step, lacks.Needs)
			}
			at, err = session.NewWithContext(ctx, p.strategy, p.scenario, fits.Schedule())
		}
		if err == nil {
			at.Close()
		}
		return err
	})
	return at, stale, err
}

// session goes to the place of a request, whose schedule has to fit, and gives the anomaly that it asks about.
func (s *Seat) session(r *http.Request) (*session.Session, explore.Anomaly, error) {
	p, err := placeOf(r.URL.Query())
	if err != nil {
		return nil, "", err
	}
	a, err := anomalyOf(r.URL.Query(), p.strategy)
	if err != nil {
		return nil, "", err
	}
	at, stale, err := s.goTo(r, p)
	if err == nil && stale != nil {
		err = fmt.Errorf("do: %w: %s", explore.ErrStale, stale.Says)
	}
	return at, a, err
}

// file answers with a schedule as one file that steps through it without a server. It keeps the reader's goal, if there is one.
func (s *Seat) file(w http.ResponseWriter, r *http.Request) error {
	p, err := placeOf(r.URL.Query())
	if err != nil {
		return err
	}
	goal := explore.Anomaly("")
	if r.URL.Query().Has("anomaly") {
		if goal, err = anomalyOf(r.URL.Query(), p.strategy); err != nil {
			return err
		}
	}
	at, stale, err := s.goTo(r, p)
	switch {
	case err != nil:
		return fmt.Errorf("do: %w", err)
	case stale != nil:
		return fmt.Errorf("do: step %d: %w: %s", stale.Step, explore.ErrStale, stale.Says)
	}
	document, err := p.document(at.Now(), goal)
	if err == nil {
		web.Save(w, "lockstep-"+p.strategy.Name+".html", document)
	}
	return err
}

// document returns the file of what is to be seen of a place.
func (p place) document(view session.View, goal explore.Anomaly) ([]byte, error) {
	in := p.scenario.Language
	schedule := web.Schedule{
		Trace: view.Trace, Replay: fmt.Sprintf("lockstep explore %s %s --replay %q", view.Lock, view.Scenario, view.Schedule),
	}
	if goal != "" {
		schedule.Goal = task(view.Lock, goal, in)
	}
	for _, shown := range view.Shown {
		a := shown.Anomaly
		schedule.Breaches = append(schedule.Breaches, web.Breach{Step: shown.Step, Title: shown.Title, Says: shown.Says})
		if schedule.Anomaly == "" && (goal == "" || goal == a) {
			schedule.Anomaly, schedule.Title, schedule.Says = string(a), shown.Title, explore.SentenceOf(a, p.scenario)
		}
	}
	return web.Document(web.KindSchedules, "lockstep: "+view.Lock, web.Schedules{
		Lock: view.Lock, Title: p.strategy.Title.In(in), Scenario: view.Scenario, Schedules: []web.Schedule{schedule},
	}, in)
}

// Beside is a schedule under two locks, and the address of each.
type Beside struct {
	session.Comparison

	Links [2]string `json:"links"`
}

// beside shows what a schedule does under another lock, too.
func (s *Seat) beside(r *http.Request) (b Beside, err error) {
	p, err := placeOf(r.URL.Query())
	if err != nil {
		return b, err
	}
	with, err := evolution.Find(r.URL.Query().Get("with"))
	if err != nil {
		return b, fmt.Errorf("with: %w", err)
	}
	if err := p.scenario.CheckFor(with); err != nil {
		return b, lock.WithCode("bad_request", nodesNeeded(with.Name, p.scenario))
	}
	err = s.run(r.Context(), s.client(r), func(ctx context.Context) (err error) {
		b.Comparison, err = session.Compare(ctx, [2]strategy.Strategy{p.strategy, with}, p.scenario, p.schedule)
		return err
	})
	if err != nil {
		return b, fmt.Errorf("do: %w", err)
	}
	for i, lock := range b.Locks {
		var done trace.Trace // by this one of them
		for _, row := range b.Rows {
			if step := row[i]; step != nil {
				done.Steps = append(done.Steps, *step)
			}
		}
		b.Links[i] = Link(lock, p.scenario.String(), done.Schedule(), Code(done))
	}
	return b, nil
}
