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
	// errQuery is returned for a malformed query.
	errQuery = lock.WithCode("bad_request", "bad request")
	// errExclusive is returned for parameters that exclude each other.
	errExclusive = lock.WithCode("not_together", "these do not go together")
)

// The largest values that the seat accepts, so that a run stays short. lockstep explore has no such limits.
const (
	maxSteps  = 300         // steps of a schedule
	maxFaults = 9           // total of all fault budgets
	maxTime   = time.Minute // longest work, clock skew, and time until a lock is free
	maxText   = 10_000      // bytes of a query parameter
)

// parsePosition parses the position of a reader: lock, scenario, and schedule so far.
func parsePosition(query url.Values) (p report.Request, err error) {
	for _, name := range []string{"lock", "in", "do", "code", "anomaly", "with"} {
		if size := len(query.Get(name)); size > maxText {
			return p, fmt.Errorf("%w: %s: it has %d bytes; the seat takes at most %d", errQuery, name, size, maxText)
		}
	}
	if p.Lock, err = evolution.Find(query.Get("lock")); err != nil {
		return p, fmt.Errorf("lock: %w", err)
	}
	if p.Scenario, err = explore.ParseScenario(query.Get("in")); err != nil {
		return p, fmt.Errorf("in: %w", err)
	}
	if p.Scenario.Language, err = parseLanguage(query); err != nil {
		return p, err
	}
	if err := cmp.Or(p.Scenario.CheckFor(p.Lock), checkSize(p.Scenario)); err != nil {
		return p, fmt.Errorf("%w: in: %w", errQuery, err)
	}
	steps := strings.Fields(query.Get("do"))
	if len(steps) > maxSteps {
		return p, fmt.Errorf("%w: do: it has %d steps; the seat takes at most %d", errQuery, len(steps), maxSteps)
	}
	p.Schedule, p.Command = strings.Join(steps, " "), "lockstep explore"
	return p, nil
}

// checkSize returns an error if a scenario is too large for the seat.
func checkSize(s explore.Scenario) error {
	faults := 0
	for _, budget := range s.Faults {
		faults += min(budget, maxFaults+1) // A budget may be as large as an int, so the plain sum could overflow.
	}
	for _, flag := range []struct {
		name       string
		isTooLarge bool
		limit      any
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
		if flag.isTooLarge {
			return fmt.Errorf("%s: more than %v; the seat takes no more, but lockstep explore does", flag.name, flag.limit)
		}
	}
	return nil
}

// parseLanguage parses the language of a query; the default is English.
func parseLanguage(query url.Values) (language.Language, error) {
	l, err := language.Parse(cmp.Or(query.Get("lang"), string(language.English)))
	if err != nil {
		return l, fmt.Errorf("%w: lang: %w", errQuery, err)
	}
	return l, nil
}

// parseAnomaly parses the anomaly of a query. It has to be one that the lock promises to prevent or, if byName is true, one that is looked
// for only on request.
func parseAnomaly(query url.Values, s strategy.Strategy, byName bool) (explore.Anomaly, error) {
	a := explore.Anomaly(query.Get("anomaly"))
	var names []string
	for _, takes := range explore.Anomalies() {
		if isPromised(takes, s) || byName && takes.IsOnRequest() {
			names = append(names, string(takes))
		}
	}
	if !slices.Contains(names, string(a)) {
		return a, fmt.Errorf("%w: anomaly: %q; for %s there are %s", errQuery, a, s.Name, strings.Join(names, ", "))
	}
	return a, nil
}

// isPromised reports whether a lock promises to prevent an anomaly, other than those that are looked for only on request.
func isPromised(a explore.Anomaly, by strategy.Strategy) bool {
	return a.IsPromisedBy(by) && !a.IsOnRequest()
}

// parseRequest parses a request for an exploration.
func parseRequest(query url.Values) (request report.Request, err error) {
	if request, err = parsePosition(query); err != nil {
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
	request.Anomaly, err = parseAnomaly(query, request.Lock, true)
	switch {
	case err != nil:
		return request, err
	case request.Each:
		return request, fmt.Errorf("%w: each looks for all anomalies, so leave out anomaly", errExclusive)
	case request.Why && request.Anomaly.IsOnRequest():
		return request, fmt.Errorf("%w: why: no lock promises to prevent %s, so there is no explanation", errExclusive, request.Anomaly)
	}
	return request, nil
}

// State is everything to show at a position.
type State struct {
	View  session.View `json:"view"`  // view of the session at the position
	Code  string       `json:"code"`  // Code of the steps
	Link  string       `json:"link"`  // link to the position, see the function Link
	Stale *Stale       `json:"stale"` // first step that does not fit the lock or the link; null: none
}

// Stale describes the first step at which a schedule, or the code of its link, does not match the present behavior of the lock.
type Stale struct {
	Step int    `json:"step"` // 1-based step
	Says string `json:"says"` // what does not match, a sentence without a full stop
}

// handleState handles GET /seat/state: it returns the State at a position.
func (s *Seat) handleState(r *http.Request) (state State, err error) {
	p, err := parsePosition(r.URL.Query())
	if err != nil {
		return state, err
	}
	at, stale, err := s.openSession(r, p)
	if err != nil {
		return state, err
	}
	view := at.Now()
	code := Code(view.Trace)
	if step := firstDifferentStep(r.URL.Query().Get("code"), code); step > 0 && (stale == nil || step < stale.Step) {
		stale = &Stale{step, differentStepText(p.Scenario, step, view.Steps[step-1])}
	}
	return State{view, code, Link(view.Lock, view.Scenario, view.Trace), stale}, nil
}

// openSession runs a session to a position, in a turn of the client. If a step does not fit, the session ends before it, and stale
// describes the step. The session is already closed: only its view can be read.
func (s *Seat) openSession(r *http.Request, p report.Request) (opened *session.Session, stale *Stale, err error) {
	err = s.run(r.Context(), s.client(r), func(ctx context.Context) error {
		opened, err = session.NewWithContext(ctx, p.Lock, p.Scenario, p.Schedule)
		if errors.Is(err, explore.ErrStale) {
			fits, _ := explore.ReplayWithContext(ctx, p.Lock, p.Scenario, p.Schedule) // It fails with the same error.
			stale = &Stale{len(fits.Steps) + 1, err.Error()}
			if staleErr := (*explore.StaleError)(nil); errors.As(err, &staleErr) && staleErr.NeededFaults != "" {
				stale.Says = missingFaultsText(p.Scenario, stale.Step, staleErr.NeededFaults)
			}
			opened, err = session.NewWithContext(ctx, p.Lock, p.Scenario, fits.Schedule())
		}
		if err == nil {
			opened.Close()
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("do: %w", err)
	}
	return opened, stale, nil
}

// openFittingSession runs a session to the position of a request. It fails if the schedule does not fit, or if needsAnomaly is true and the
// request has no valid anomaly.
func (s *Seat) openFittingSession(r *http.Request, needsAnomaly bool) (p report.Request, at *session.Session, err error) {
	if p, err = parsePosition(r.URL.Query()); err == nil && needsAnomaly {
		p.Anomaly, err = parseAnomaly(r.URL.Query(), p.Lock, false)
	}
	if err != nil {
		return p, nil, err
	}
	at, stale, err := s.openSession(r, p)
	if err == nil && stale != nil {
		err = fmt.Errorf("do: %w: %s", explore.ErrStale, stale.Says)
	}
	return p, at, err
}

// handleFile handles GET /seat/file: it returns an HTML file that steps through the schedule without a server, and states the reader's
// goal, if any.
func (s *Seat) handleFile(w http.ResponseWriter, r *http.Request) error {
	p, at, err := s.openFittingSession(r, r.URL.Query().Has("anomaly"))
	if err != nil {
		return err
	}
	page, err := p.PageOf(at.Now().Recording)
	if err == nil {
		web.Save(w, "lockstep-"+p.Lock.Name+".html", page)
	}
	return err
}

// LinkedComparison is a comparison of two locks, with a link to each schedule.
type LinkedComparison struct {
	session.Comparison

	Links [2]string `json:"links"` // link to each lock's schedule, see the function Link
}

// handleCompare handles GET /seat/beside: it compares a schedule under the reader's lock and another.
func (s *Seat) handleCompare(r *http.Request) (b LinkedComparison, err error) {
	p, err := parsePosition(r.URL.Query())
	if err != nil {
		return b, err
	}
	with, err := evolution.Find(r.URL.Query().Get("with"))
	if err != nil {
		return b, fmt.Errorf("with: %w", err)
	}
	if err := p.Scenario.CheckFor(with); err != nil {
		return b, lock.WithCode("bad_request", nodesNeededText(with.Name, p.Scenario))
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

// Link returns a link within the page: the address of a schedule as one lock ran it. The scenario is given as flags of lockstep explore.
// Link escapes only what a query requires, so that the schedule stays readable.
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

// charsPerStep is the number of base 64 characters of a code for each step: 12 bits, so a changed step goes unnoticed once in 4,096 times.
const charsPerStep = 2

// Code returns a hash of the commands, replies and kinds of a trace's steps, without their descriptions. Each step has charsPerStep
// characters, which also depend on all steps before it, so two codes first differ at the first step that differs.
func Code(t trace.Trace) string {
	var code strings.Builder
	var all [sha256.Size]byte
	for _, step := range t.Steps {
		text := strings.Join([]string{string(all[:]), step.Token, step.Kind, step.Command, step.Reply}, "\x00")
		all = sha256.Sum256([]byte(text))
		code.WriteString(base64.RawURLEncoding.EncodeToString(all[:])[:charsPerStep])
	}
	return code.String()
}

// firstDifferentStep returns the 1-based step at which two codes first differ, in their common length; 0: none.
func firstDifferentStep(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i/charsPerStep + 1
		}
	}
	return 0
}
