package seat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/explore/stepper"
	"lockstep/internal/language"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
)

// The largest values that the seat takes: lockstep explore takes larger ones.
const (
	maxActors = 4
	maxSales  = 3
	maxNested = 5
	maxNodes  = 5
	maxFaults = 9           // in all
	maxTime   = time.Minute // of work, of a clock that is ahead, and until a lock is free
	maxSteps  = 300
	maxText   = 10_000 // bytes of a value of the query
)

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
			return p, fmt.Errorf("%w: %s: it has %d bytes; the seat takes %d", ErrQuery, name, has, maxText)
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
		return p, fmt.Errorf("%w: in: %w", ErrQuery, err)
	}
	steps := strings.Fields(query.Get("do"))
	if len(steps) > maxSteps {
		return p, fmt.Errorf("%w: do: it has %d steps; the seat takes %d", ErrQuery, len(steps), maxSteps)
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
		return l, fmt.Errorf("%w: lang: %w", ErrQuery, err)
	}
	return l, nil
}

// anomalyOf reads the anomaly of a query: one that the lock promises to prevent, or one of more.
func anomalyOf(query url.Values, s strategy.Strategy, more ...explore.Anomaly) (explore.Anomaly, error) {
	a, takes := explore.Anomaly(query.Get("anomaly")), append(promisesOf(s), more...)
	if slices.Contains(takes, a) {
		return a, nil
	}
	var names []string
	for _, one := range takes {
		names = append(names, string(one))
	}
	return a, fmt.Errorf("%w: anomaly: %q; for %s there are %s", ErrQuery, a, s.Name, strings.Join(names, ", "))
}

// Stale says at which step a schedule, or the code of its link, does not fit what the lock does now.
type Stale struct {
	Step int    `json:"step"` // counted from 1
	Says string `json:"says"`
}

// session goes to the place, or, if the schedule does not fit, as far as it does.
func (p place) session(ctx context.Context) (*stepper.Session, *Stale, error) {
	session, err := stepper.NewWithContext(ctx, p.strategy, p.scenario, p.schedule)
	if !errors.Is(err, explore.ErrStale) {
		return session, nil, err
	}
	fits, _ := explore.ReplayWithContext(ctx, p.strategy, p.scenario, p.schedule) // it fails as before
	stale := &Stale{len(fits.Steps) + 1, err.Error()}
	session, err = stepper.NewWithContext(ctx, p.strategy, p.scenario, fits.Schedule())
	return session, stale, err
}
