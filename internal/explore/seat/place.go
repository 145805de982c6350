package seat

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/explore/report"
	"lockstep/internal/explore/session"
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
	"lockstep/internal/trace"
	"lockstep/internal/web"
)

var (
	errQuery    = lock.WithCode("bad_request", "bad request")
	errTogether = lock.WithCode("not_together", "these do not go together")
)

// The largest values that the seat takes: lockstep explore takes larger ones.
const (
	mostSteps = 300         // of a schedule
	maxFaults = 9           // in all
	maxTime   = time.Minute // of work, of a clock that is ahead, and until a lock is free
	maxText   = 10_000      // bytes of a value of the query
)

// placeOf reads where a reader is: a lock, a scenario, and a schedule so far.
func placeOf(query url.Values) (p report.Request, err error) {
	for _, name := range []string{"lock", "in", "do", "code", "anomaly", "with"} {
		if has := len(query.Get(name)); has > maxText {
			return p, fmt.Errorf("%w: %s: it has %d bytes; the seat takes %d", errQuery, name, has, maxText)
		}
	}
	if p.Lock, err = evolution.Find(query.Get("lock")); err != nil {
		return p, fmt.Errorf("lock: %w", err)
	}
	if p.Scenario, err = explore.ParseScenario(query.Get("in")); err != nil {
		return p, fmt.Errorf("in: %w", err)
	}
	if p.Scenario.Language, err = languageOf(query); err != nil {
		return p, err
	}
	if err := cmp.Or(p.Scenario.CheckFor(p.Lock), small(p.Scenario)); err != nil {
		return p, fmt.Errorf("%w: in: %w", errQuery, err)
	}
	steps := strings.Fields(query.Get("do"))
	if len(steps) > mostSteps {
		return p, fmt.Errorf("%w: do: it has %d steps; the seat takes %d", errQuery, len(steps), mostSteps)
	}
	p.Schedule, p.Command = strings.Join(steps, " "), "lockstep explore"
	return p, nil
}

// small says what is too large of a scenario.
func small(s explore.Scenario) error {
	faults := 0
	for _, budget := range s.Faults {
		faults += min(budget, maxFaults+1) // a budget may be as large as an int
	}
	for _, flag := range []struct {
		name  string
		large bool
		takes any
	}{
		{"actors", s.Actors > 4, 4},
		{"sales", s.Sales > 3, 3},
		{"nested", s.Nested > 5, 5},
		{"nodes", s.Nodes > 5, 5},
		{"faults in all", faults > maxFaults, maxFaults},
		{"work", s.Work > maxTime, maxTime},
		{"skew", s.Skew > maxTime, maxTime},
		{"freed-within", s.FreedWithin > maxTime, maxTime},
	} {
		if flag.large {
			return fmt.Errorf("%s: more than %v; the seat takes no more, but lockstep explore does", flag.name, flag.takes)
		}
	}
	return nil
}

// languageOf reads the language of a query; English, if there is none.
func languageOf(query url.Values) (language.Language, error) {
	l, err := language.Parse(cmp.Or(query.Get("lang"), string(language.English)))
	if err != nil {
		return l, fmt.Errorf("%w: lang: %w", errQuery, err)
	}
	return l, nil
}

// anomalyOf reads the anomaly of a query: one that the lock promises to prevent, or one that is looked for by its name.
func anomalyOf(query url.Values, s strategy.Strategy, byName bool) (explore.Anomaly, error) {
	a := explore.Anomaly(query.Get("anomaly"))
	var names []string
	for _, takes := range explore.Anomalies() {
		if isPromised(takes, s) || byName && takes.OnRequest() {
			names = append(names, string(takes))
		}
	}
	if !slices.Contains(names, string(a)) {
		return a, fmt.Errorf("%w: anomaly: %q; for %s there are %s", errQuery, a, s.Name, strings.Join(names, ", "))
	}
	return a, nil
}

// isPromised reports whether a lock promises to prevent an anomaly that needs no name to be looked for.
func isPromised(a explore.Anomaly, by strategy.Strategy) bool {
	return a.IsPromisedBy(by) && !a.OnRequest()
}

// requestOf reads what is to be explored.
func requestOf(query url.Values) (request report.Request, err error) {
	if request, err = placeOf(query); err != nil {
		return request, err
	}
	flags := []*bool{&request.Each, &request.Why}
	for i, name := range []string{"each", "why"} {
		text := query.Get(name)
		if *flags[i], err = strconv.ParseBool(cmp.Or(text, "false")); err != nil {
			return request, fmt.Errorf("%w: %s: %q; it takes true or false", errQuery, name, text)
		}
	}
	if query.Get("anomaly") == "" {
		return request, nil
	}
	request.Anomaly, err = anomalyOf(query, request.Lock, true)
	switch {
	case err != nil:
		return request, err
	case request.Each:
		return request, fmt.Errorf("%w: each looks for all anomalies: leave out anomaly", errTogether)
	case request.Why && request.Anomaly.OnRequest():
		return request, fmt.Errorf("%w: why: it knows no way without %s, of which no lock promises to be free", errTogether, request.Anomaly)
	}
	return request, nil
}

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
	if step := differs(r.URL.Query().Get("code"), code); step > 0 && (stale == nil || step < stale.Step) {
		stale = &Stale{step, otherwise(p.Scenario, step, view.Steps[step-1])}
	}
	return State{view, code, Link(view.Lock, view.Scenario, view.Trace), stale}, nil
}

// goTo goes to a place in a turn of its own, or, if the schedule does not fit, as far as it does. The session has ended; what it has seen
// can be read.
func (s *Seat) goTo(r *http.Request, p report.Request) (at *session.Session, stale *Stale, err error) {
	err = s.run(r.Context(), s.client(r), func(ctx context.Context) error {
		at, err = session.NewWithContext(ctx, p.Lock, p.Scenario, p.Schedule)
		if errors.Is(err, explore.ErrStale) {
			fits, _ := explore.ReplayWithContext(ctx, p.Lock, p.Scenario, p.Schedule) // it fails as before
			stale = &Stale{len(fits.Steps) + 1, err.Error()}
			if lacks := (*explore.StaleError)(nil); errors.As(err, &lacks) && lacks.NeededFaults != "" {
				stale.Says = lacking(p.Scenario, stale.Step, lacks.NeededFaults)
			}
			at, err = session.NewWithContext(ctx, p.Lock, p.Scenario, fits.Schedule())
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

// session goes to the place of a request, whose schedule has to fit, and which names an anomaly, if it has to.
func (s *Seat) session(r *http.Request, named bool) (p report.Request, at *session.Session, err error) {
	if p, err = placeOf(r.URL.Query()); err == nil && named {
		p.Anomaly, err = anomalyOf(r.URL.Query(), p.Lock, false)
	}
	if err != nil {
		return p, nil, err
	}
	at, stale, err := s.goTo(r, p)
	if err == nil && stale != nil {
		err = fmt.Errorf("do: %w: %s", explore.ErrStale, stale.Says)
	}
	return p, at, err
}

// file answers with a schedule as one file that steps through it without a server. It keeps the reader's goal, if there is one.
func (s *Seat) file(w http.ResponseWriter, r *http.Request) error {
	p, at, err := s.session(r, r.URL.Query().Has("anomaly"))
	if err != nil {
		return err
	}
	page, err := p.PageOf(at.Now().Recording)
	if err == nil {
		web.Save(w, "lockstep-"+p.Lock.Name+".html", page)
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
	if err := p.Scenario.CheckFor(with); err != nil {
		return b, lock.WithCode("bad_request", nodesNeeded(with.Name, p.Scenario))
	}
	err = s.run(r.Context(), s.client(r), func(ctx context.Context) (err error) {
		b.Comparison, err = session.Compare(ctx, [2]strategy.Strategy{p.Lock, with}, p.Scenario, p.Schedule)
		return err
	})
	if err != nil {
		return b, fmt.Errorf("do: %w", err)
	}
	for i, lock := range b.Locks {
		b.Links[i] = Link(lock, p.Scenario.String(), b.Traces[i])
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
