package seat

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/explore/report"
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
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

// command is what a hint in a file begins with.
const command = "lockstep explore"

// place is where a reader is: a lock, a scenario, and a schedule so far.
type place struct {
	strategy strategy.Strategy
	scenario explore.Scenario
	schedule string
	code     string // what its steps did when its link was made, "" if nobody knows
}

// placeOf reads a query.
func placeOf(query url.Values) (p place, err error) {
	for _, name := range []string{"lock", "in", "do", "code", "anomaly", "with"} {
		if has := len(query.Get(name)); has > maxText {
			return p, fmt.Errorf("%w: %s: it has %d bytes; the seat takes %d", errQuery, name, has, maxText)
		}
	}
	in, err := languageOf(query)
	if err != nil {
		return p, err
	}
	if p.strategy, err = evolution.Find(query.Get("lock")); err != nil {
		return p, fmt.Errorf("lock: %w", err)
	}
	if p.scenario, err = explore.ParseScenario(query.Get("in")); err != nil {
		return p, fmt.Errorf("in: %w", err)
	}
	p.scenario.Language = in
	if err := cmp.Or(p.scenario.CheckFor(p.strategy), small(p.scenario)); err != nil {
		return p, fmt.Errorf("%w: in: %w", errQuery, err)
	}
	steps := strings.Fields(query.Get("do"))
	if len(steps) > mostSteps {
		return p, fmt.Errorf("%w: do: it has %d steps; the seat takes %d", errQuery, len(steps), mostSteps)
	}
	p.schedule, p.code = strings.Join(steps, " "), query.Get("code")
	return p, nil
}

// small says what is too large of a scenario.
func small(s explore.Scenario) error {
	faults := 0
	for _, budget := range s.Faults.Map() {
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
		{"freed-within", s.Within > maxTime, maxTime},
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
		if isPromised(takes, s) || byName && takes.ByName() {
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
	return a.IsPromisedBy(by) && !a.ByName()
}

// requestOf reads what is to be explored.
func requestOf(query url.Values) (request report.Request, err error) {
	p, err := placeOf(query)
	if err != nil {
		return request, err
	}
	request = report.Request{Lock: p.strategy, Scenario: p.scenario, Command: command}
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
	request.Anomaly, err = anomalyOf(query, p.strategy, true)
	switch {
	case err != nil:
		return request, err
	case request.Each:
		return request, fmt.Errorf("%w: each looks for all anomalies: leave out anomaly", errTogether)
	case request.Why && request.Anomaly.ByName():
		return request, fmt.Errorf("%w: why: it knows no way without %s, of which no lock promises to be free", errTogether, request.Anomaly)
	}
	return request, nil
}
