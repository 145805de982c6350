package lab

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/lock/verdict"
)

const (
	actors    = 2          // sales in an exploration
	most      = 1500 << 20 // memory that an exploration may take, as for lockstep explore
	schedules = 10_000     // of an exploration of one scenario: where one is broken, a few thousand show it
)

// scenario gives the one in which the explorer looks for the anomaly, if it is one.
func (l Lab) scenario(s strategy.Strategy) (explore.Scenario, bool) {
	if l.Faults != (explore.Faults{}) {
		return explore.Scenario{Actors: actors, Faults: l.Faults}, true
	}
	all := explore.ScenariosOf(s, actors)
	i := slices.IndexFunc(all, func(named explore.NamedScenario) bool { return named.Name == l.Expects(s.Name).In })
	if i < 0 {
		return explore.Scenario{}, false
	}
	return all[i].Scenario, true
}

// search looks for the anomaly with a lock, in one scenario or in all of explore --all, and tells what it has found.
func (l Lab) search(ctx context.Context, lock string, known sweeps, in language.Language) (verdict.Verdict, string, error) {
	s, err := evolution.Find(lock)
	if err != nil {
		return "", "", err
	}
	where, one := l.scenario(s)
	if !one {
		return known.search(ctx, s, l.Anomaly, in)
	}
	where.Polls, where.Language = explore.UsualPolls, in // polls as explore --all
	goal := explore.Goal{Anomalies: []explore.Anomaly{l.Anomaly}}
	result, err := explore.Explore(ctx, s, where, goal, explore.Bounds{Schedules: schedules, Memory: most})
	says := untested(result, in)
	switch {
	case len(result.Found) > 0:
		says = shortest(result.Found[0], in)
	case result.Verdict() == verdict.Holds:
		says = inNone(result.Schedules, in)
	}
	return result.Verdict(), says, err
}

// sweeps are what explore --all finds, by lock: one search finds all anomalies.
type sweeps map[string][]explore.Cell

func (known sweeps) search(
	ctx context.Context, s strategy.Strategy, a explore.Anomaly, in language.Language,
) (verdict.Verdict, string, error) {
	if known[s.Name] == nil {
		quiet := func(explore.NamedScenario, explore.Result, bool) {}
		rows, err := explore.All(ctx, []strategy.Strategy{s}, actors, explore.Bounds{Memory: most}, quiet)
		if err != nil || ctx.Err() != nil {
			return "", "", cmp.Or(err, context.Cause(ctx))
		}
		known[s.Name] = rows[0].Cells
	}
	i := slices.IndexFunc(known[s.Name], func(c explore.Cell) bool { return c.Anomaly == a })
	if i < 0 {
		return "", "", fmt.Errorf("explore --all does not look for %s", a)
	}
	cell := known[s.Name][i]
	says := explore.UnknownMeans(in)
	switch {
	case len(cell.Found) > 0:
		says = shortest(cell.Found[0].Counterexample, in)
	case cell.Verdict() == verdict.Holds:
		says = inNoScenario(in)
	}
	return cell.Verdict(), says, nil
}
