package lab

import (
	"context"
	"fmt"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
)

const (
	actors    = 2          // sales in an exploration
	most      = 1500 << 20 // memory that an exploration may take, as for lockstep explore
	schedules = 10_000     // of an exploration of one scenario: where one is broken, a few thousand show it
)

// Search is how the explorer looks for an anomaly that no lab shows on the running service.
type Search struct {
	Anomaly explore.Anomaly
	Faults  explore.Faults // where it is looked for; none: what is expected says where
}

// scenario gives the one in which it is looked for, if it is one.
func (l Lab) scenario(lock string) (explore.Scenario, bool) {
	if l.Search.Faults != (explore.Faults{}) {
		return explore.Scenario{Actors: actors, Faults: l.Search.Faults}, true
	}
	s, err := evolution.Find(lock)
	if err != nil {
		return explore.Scenario{}, false
	}
	for _, named := range explore.ScenariosOf(s, actors) {
		if named.Name == l.Expects(lock).In {
			return named.Scenario, true
		}
	}
	return explore.Scenario{}, false
}

// search looks for the anomaly with a lock: in one scenario, or in all of explore --all.
func (l Lab) search(ctx context.Context, lock string, known sweeps, in language.Language) (observation, error) {
	s, err := evolution.Find(lock)
	if err != nil {
		return observation{}, err
	}
	where, one := l.scenario(lock)
	if !one {
		return known.observe(ctx, s, l.Search.Anomaly, in)
	}
	goal := explore.Goal{Anomalies: []explore.Anomaly{l.Search.Anomaly}}
	result, err := explore.Explore(ctx, s, where, goal, explore.Bounds{Schedules: schedules, Memory: most})
	if err != nil {
		return observation{}, err
	}
	if ctx.Err() != nil {
		return observation{}, context.Cause(ctx)
	}
	says := "the exploration ended early: " + result.Bound
	switch {
	case len(result.Found) > 0:
		says = shortest(result.Found[0], in)
	case result.Verdict() == explore.Holds:
		says = fmt.Sprintf(language.Both("none of %d schedules shows it", "%d 个时序都没有出现").In(in), result.Schedules)
	case result.Complete:
		says = strings.Join(result.Untested(), ", and ")
	}
	return observation{Observed(result.Verdict()), says}, nil
}

// sweeps are what explore --all finds, by lock: one search finds all anomalies.
type sweeps map[string]explore.Row

func (known sweeps) observe(
	ctx context.Context, s strategy.Strategy, a explore.Anomaly, in language.Language,
) (observation, error) {
	if _, done := known[s.Name]; !done {
		quiet := func(explore.NamedScenario, explore.Result, bool) {}
		rows, err := explore.All(ctx, []strategy.Strategy{s}, actors, explore.Bounds{Memory: most}, quiet)
		if err != nil {
			return observation{}, err
		}
		if ctx.Err() != nil {
			return observation{}, context.Cause(ctx)
		}
		known[s.Name] = rows[0]
	}
	for _, cell := range known[s.Name].Cells {
		if cell.Anomaly != a {
			continue
		}
		more := language.Both("none of the first %d schedules of each scenario shows it; there are more", "每个场景的前 %d 个时序都没有出现；还有更多")
		says := fmt.Sprintf(more.In(in), explore.SchedulesOnNodes)
		switch {
		case len(cell.Found) > 0:
			says = shortest(cell.Found[0].Counterexample, in)
		case cell.Verdict() == explore.Holds:
			says = language.Both("no schedule of any scenario shows it", "所有场景的所有时序都没有出现").In(in)
		}
		return observation{Observed(cell.Verdict()), says}, nil
	}
	return observation{}, fmt.Errorf("explore --all does not look for %s", a)
}

// shortest tells a counterexample.
func shortest(c explore.Counterexample, in language.Language) string {
	return fmt.Sprintf(language.Both("in %d steps: %s", "%d 步：%s").In(in), c.Length, c.Schedule)
}
