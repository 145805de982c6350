package seat

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/explore/report"
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
		return state, err
	}
	view := at.Now()
	code := Code(view.Trace)
	if step := differs(p.code, code); step > 0 && (stale == nil || step < stale.Step) {
		stale = &Stale{step, otherwise(p.scenario, step, view.Trace.Steps[step-1])}
	}
	return State{view, code, Link(view.Lock, view.Scenario, view.Trace), stale}, nil
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
	if err != nil {
		return nil, nil, fmt.Errorf("do: %w", err)
	}
	return at, stale, nil
}

// session goes to the place of a request, whose schedule has to fit, and gives the anomaly that it is about, if it has to name one.
func (s *Seat) session(r *http.Request, named bool) (at *session.Session, a explore.Anomaly, err error) {
	p, err := placeOf(r.URL.Query())
	if err == nil && named {
		a, err = anomalyOf(r.URL.Query(), p.strategy, false)
	}
	if err != nil {
		return nil, a, err
	}
	at, stale, err := s.goTo(r, p)
	if err == nil && stale != nil {
		err = fmt.Errorf("do: %w: %s", explore.ErrStale, stale.Says)
	}
	return at, a, err
}

// file answers with a schedule as one file that steps through it without a server. It keeps the reader's goal, if there is one.
func (s *Seat) file(w http.ResponseWriter, r *http.Request) error {
	at, goal, err := s.session(r, r.URL.Query().Has("anomaly"))
	if err != nil {
		return err
	}
	lock, words := at.Strategy(), ""
	if goal != "" {
		words = task(lock.Name, goal, at.Scenario().Language)
	}
	request := report.Request{Lock: lock, Scenario: at.Scenario(), Command: command, Anomaly: goal}
	page, err := request.PageOf(at.Now().Trace, at.Now().Shown, words)
	if err == nil {
		web.Save(w, "lockstep-"+lock.Name+".html", page)
	}
	return err
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
		b.Links[i] = Link(lock, p.scenario.String(), b.Traces[i])
	}
	return b, nil
}

// Link returns the address within the page of what a lock did in a scenario: that is as lockstep explore takes it, and the schedule as
// --replay does. It escapes what has to be in a query, and leaves a schedule as it is read.
func Link(lock, scenario string, done trace.Trace) string {
	link, mark := "#/schedule/"+lock, "?"
	readable := strings.NewReplacer("%3A", ":", "%2F", "/", "%2C", ",", "%3D", "=")
	for _, part := range [][2]string{{"in", scenario}, {"do", done.Schedule()}, {"code", Code(done)}} {
		if part[1] != "" {
			link += mark + part[0] + "=" + readable.Replace(url.QueryEscape(part[1]))
			mark = "&"
		}
	}
	return link
}

// signs is how many signs of a code are for one step: 12 bits.
const signs = 2

// Code returns a fingerprint of what the steps of a trace do: their commands, replies and kinds, but no words. Two signs stand for each
// step and all before it, so two codes tell the step from which on they differ.
func Code(t trace.Trace) string {
	var code strings.Builder
	var all [sha256.Size]byte
	for _, step := range t.Steps {
		text := strings.Join([]string{string(all[:]), step.Token, step.Kind, step.Command, step.Reply}, "\x00")
		all = sha256.Sum256([]byte(text))
		code.WriteString(base64.RawURLEncoding.EncodeToString(all[:])[:signs])
	}
	return code.String()
}

// differs returns the step from which on two codes differ, counted from 1; 0: none, as far as both go.
func differs(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i/signs + 1
		}
	}
	return 0
}
