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
	maxActors = 4
	maxSales  = 3
	maxNested = 5
	maxNodes  = 5
	maxFaults = 9           // in all
	maxTime   = time.Minute // of work, of a clock that is ahead, and until a lock is free
	maxText   = 10_000      // bytes of a value of the query
)

// placeOf reads a query.
func placeOf(query url.Values) (p Place, err error) {
	for _, name := range []string{"lock", "in", "do", "code", "anomaly", "with"} {
		if has := len(query.Get(name)); has > maxText {
			return p, fmt.Errorf("%w: %s: it has %d bytes; the seat takes %d", errQuery, name, has, maxText)
		}
	}
	in, err := languageOf(query)
	if err != nil {
		return p, err
	}
	if p.Strategy, err = evolution.Find(query.Get("lock")); err != nil {
		return p, fmt.Errorf("lock: %w", err)
	}
	if p.Scenario, err = explore.ParseScenario(query.Get("in")); err != nil {
		return p, fmt.Errorf("in: %w", err)
	}
	p.Scenario.Language = in
	if err := cmp.Or(p.Scenario.CheckFor(p.Strategy), small(p.Scenario)); err != nil {
		return p, fmt.Errorf("%w: in: %w", errQuery, err)
	}
	steps := strings.Fields(query.Get("do"))
	if len(steps) > MostSteps {
		return p, fmt.Errorf("%w: do: it has %d steps; the seat takes %d", errQuery, len(steps), MostSteps)
	}
	p.Schedule, p.Code = strings.Join(steps, " "), query.Get("code")
	return p, nil
}

// small says what is too large of a scenario.
func small(s explore.Scenario) error {
	faults := 0
	for _, budget := range s.Faults.Map() {
		faults += min(budget, maxFaults+1) // a budget may be as large as an int
	}
	for _, flag := range []struct {
		name      string
		is, takes int
	}{
		{"actors", s.Actors, maxActors},
		{"sales", s.Sales, maxSales},
		{"nested", s.Nested, maxNested},
		{"nodes", s.Nodes, maxNodes},
		{"faults in all", faults, maxFaults},
	} {
		if flag.is > flag.takes {
			return fmt.Errorf("%s: more than %d; the seat takes no more, but lockstep explore does", flag.name, flag.takes)
		}
	}
	for name, is := range map[string]time.Duration{"work": s.Work, "skew": s.Skew, "freed-within": s.Within} {
		if is > maxTime {
			return fmt.Errorf("%s: more than %v; the seat takes no more, but lockstep explore does", name, maxTime)
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

// anomalyOf reads the anomaly of a query: one that the lock promises to prevent, or one of more.
func anomalyOf(query url.Values, s strategy.Strategy, more ...explore.Anomaly) (explore.Anomaly, error) {
	a, takes := explore.Anomaly(query.Get("anomaly")), append(PromisesOf(s), more...)
	if slices.Contains(takes, a) {
		return a, nil
	}
	var names []string
	for _, one := range takes {
		names = append(names, string(one))
	}
	return a, fmt.Errorf("%w: anomaly: %q; for %s there are %s", errQuery, a, s.Name, strings.Join(names, ", "))
}

// requestOf reads what is to be explored.
func requestOf(query url.Values) (request report.Request, err error) {
	p, err := placeOf(query)
	if err != nil {
		return request, err
	}
	request = report.Request{Lock: p.Strategy, Scenario: p.Scenario, Command: "lockstep explore"}
	if request.Each, err = flagOf(query, "each"); err != nil {
		return request, err
	}
	if request.Why, err = flagOf(query, "why"); err != nil {
		return request, err
	}
	if query.Get("anomaly") == "" {
		return request, nil
	}
	byName := slices.DeleteFunc(explore.Anomalies(), func(a explore.Anomaly) bool { return !a.ByName() })
	request.Anomaly, err = anomalyOf(query, p.Strategy, byName...)
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

// flagOf reads whether something is asked for.
func flagOf(query url.Values, name string) (is bool, err error) {
	if text := query.Get(name); text != "" {
		if is, err = strconv.ParseBool(text); err != nil {
			return false, fmt.Errorf("%w: %s: %q; it takes true or false", errQuery, name, text)
		}
	}
	return is, nil
}
