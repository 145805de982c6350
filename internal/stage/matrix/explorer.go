package matrix

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/stage/lab"
)

// actors is how many sales there are in an exploration.
const actors = 2

// most is how much memory an exploration may take, as for lockstep explore.
const most = 1500 << 20

// schedules bound an exploration of one scenario. Where one is broken, a few thousand show it.
const schedules = 10_000

// exploration is an anomaly that no lab shows, or none yet.
type exploration struct {
	anomalyName string // of the row
	claim       string
	anomaly     explore.Anomaly
	in          *explore.Scenario // where it is looked for; nil: what is expected says where
	expected    []expectation
}

// expectation is what the explorer is expected to find, of some locks.
type expectation struct {
	lab.Expectation
	in string // the scenario of explore --all that shows it; empty: it is looked for in all of them
}

// of gives what is expected of a lock.
func (e exploration) of(lock string) expectation {
	for _, expected := range e.expected {
		if slices.Contains(strings.Fields(expected.Locks), lock) {
			return expected
		}
	}
	return expectation{Expectation: lab.Expectation{Locks: lock, Observed: lab.NA, Why: "nothing is said about it"}}
}

// explorerRow is an anomaly that the explorer shows.
type explorerRow struct {
	exploration
	known    sweeps
	language language.Language
}

func (r explorerRow) name() string                        { return r.anomalyName }
func (r explorerRow) claim() string                       { return r.exploration.claim }
func (r explorerRow) expects(lock string) lab.Expectation { return r.of(lock).Expectation }
func (r explorerRow) waits() bool                         { return false }

// quick cells are those that one short exploration shows, and those of the locks of which all explorations are short.
func (r explorerRow) quick(lock string) bool {
	return r.of(lock).Observed == lab.Broken || slices.Contains(quickLocks(), lock)
}

// quickLocks are those of which all explorations take no more than a second or two.
func quickLocks() []string { return []string{"v0", "v1", "v4", "local", "atomic"} }

func (r explorerRow) how(lock string) string {
	s, err := evolution.Find(lock)
	if err != nil {
		return ""
	}
	in, one := r.scenario(s)
	if !one {
		return "explore --all"
	}
	words := []string{"explore", lock}
	if flags := in.String(); flags != "" {
		words = append(words, flags)
	}
	return strings.Join(append(words, "--anomaly", string(r.anomaly)), " ")
}

// scenario gives the one in which it is looked for, if it is one.
func (r explorerRow) scenario(s strategy.Strategy) (explore.Scenario, bool) {
	if r.in != nil {
		return *r.in, true
	}
	for _, named := range explore.ScenariosOf(s, actors) {
		if named.Name == r.of(s.Name).in {
			return named.Scenario, true
		}
	}
	return explore.Scenario{}, false
}

func (r explorerRow) observe(ctx context.Context, lock string) (observation, error) {
	s, err := evolution.Find(lock)
	if err != nil {
		return observation{}, err
	}
	in, one := r.scenario(s)
	if !one {
		return r.known.observe(ctx, s, r.anomaly, r.language)
	}
	goal := explore.Goal{Anomalies: []explore.Anomaly{r.anomaly}}
	result, err := explore.Explore(ctx, s, in, goal, explore.Bounds{Schedules: schedules, Memory: most})
	if err != nil {
		return observation{}, err
	}
	if ctx.Err() != nil {
		return observation{}, context.Cause(ctx)
	}
	seen := observation{observed: observed(result.Verdict())}
	switch {
	case len(result.Found) > 0:
		seen.says = shortest(result.Found[0], r.language)
	case result.Verdict() == explore.Holds:
		seen.says = fmt.Sprintf(language.Both("none of %d schedules shows it", "%d 个时序都没有出现").In(r.language), result.Schedules)
	case result.Complete:
		seen.says = strings.Join(result.Untested(), ", and ")
	default:
		seen.says = "the exploration ended early: " + result.Bound
	}
	return seen, nil
}

// sweeps are what explore --all finds, by lock: one search finds all anomalies.
type sweeps map[string]explore.Row

func (known sweeps) observe(
	ctx context.Context, s strategy.Strategy, a explore.Anomaly, in language.Language,
) (observation, error) {
	if _, done := known[s.Name]; !done {
		quiet := func(explore.NamedScenario, explore.Result) {}
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
		seen := observation{observed: observed(cell.Verdict())}
		switch {
		case len(cell.Found) > 0:
			seen.says = shortest(cell.Found[0].Counterexample, in)
		case cell.Verdict() == explore.Holds:
			seen.says = language.Both("no schedule of any scenario shows it", "所有场景的所有时序都没有出现").In(in)
		default:
			more := language.Both("none of the first %d schedules of each scenario shows it; there are more", "每个场景的前 %d 个时序都没有出现；还有更多")
			seen.says = fmt.Sprintf(more.In(in), explore.SchedulesOnNodes)
		}
		return seen, nil
	}
	return observation{}, fmt.Errorf("explore --all does not look for %s", a)
}

// shortest says what a counterexample is.
func shortest(c explore.Counterexample, in language.Language) string {
	return fmt.Sprintf(language.Both("in %d steps: %s", "%d 步：%s").In(in), c.Length, c.Schedule)
}

// observed is a verdict in the words of the labs.
func observed(v explore.Verdict) lab.Observed {
	switch v {
	case explore.Broken:
		return lab.Broken
	case explore.Holds:
		return lab.Holds
	default:
		return lab.Unknown
	}
}
