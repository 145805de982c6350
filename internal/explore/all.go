package explore

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"lockstep/internal/explore/engine"
	"lockstep/internal/strategy"
	"lockstep/internal/verdict"
)

// NamedScenario is one of the scenarios that Tabulate explores.
type NamedScenario = engine.NamedScenario

// Scenarios returns the scenarios in which Tabulate explores a strategy on one server: nothing unusual, each way to use a lock, and each
// fault once, except for faults of nodes and for faults that break every lock with an expiry or every lock on a single Redis.
func Scenarios(actors int) []NamedScenario { return engine.StandardScenarios(actors, false) }

// LockRow is a row in the table that Tabulate makes: the results for one strategy.
type LockRow struct {
	Lock  string        // name of the strategy
	Cells []AnomalyCell // one for each anomaly that is not looked for only by name, in the order of Anomalies
}

// AnomalyCell is the result for one strategy and one anomaly, in all its scenarios.
type AnomalyCell struct {
	Anomaly     Anomaly     // anomaly that the exploration looked for
	Applies     bool        // the strategy promises to prevent the anomaly
	Complete    bool        // every scenario was explored to the end, or until it showed the anomaly
	Interrupted bool        // a scenario is incomplete because the context has ended
	Found       []Recording // counterexamples, shortest first
}

// Verdict returns the verdict on the strategy for this anomaly.
func (c AnomalyCell) Verdict() verdict.Verdict {
	return verdict.Search{Found: len(c.Found) > 0, Complete: c.Complete}.Verdict()
}

// String returns the text of the cell in a table: the scenario that shows the anomaly in the fewest steps, and their number; "never" if no
// scenario does; "unknown" if a bound was hit or Redis does not show it; "interrupted" if the context ended first; "–" if the strategy does
// not promise to prevent the anomaly.
func (c AnomalyCell) String() string {
	switch {
	case !c.Applies:
		return "–"
	case len(c.Found) > 0:
		return fmt.Sprintf("%s, %d", c.Found[0].Scenario.Name, c.Found[0].Length())
	case c.Complete:
		return "never"
	case c.Interrupted:
		return "interrupted"
	default:
		return "unknown"
	}
}

// MaxSchedulesOnNodes is the largest number of schedules that Tabulate explores of a lock on several masters in one scenario. With three
// masters, every scenario has fewer.
const MaxSchedulesOnNodes = 200_000

// ScenariosFor returns the scenarios in which Tabulate explores a strategy.
func ScenariosFor(s strategy.Strategy, actors int) []NamedScenario {
	return engine.StandardScenarios(actors, s.OnNodes)
}

// Tabulate explores each strategy in each of its scenarios, looks for all anomalies, and returns a row for each strategy. It explores as
// many scenarios at a time as bounds has workers, one worker each. It calls progress with the intermediate results of every scenario and
// when a scenario has ended, one call at a time. Results that are missing when ctx ends are unknown.
func Tabulate(
	ctx context.Context, strategies []strategy.Strategy, actors int, bounds Bounds, progress func(s NamedScenario, now Result, ended bool),
) ([]LockRow, error) {
	var (
		results [][]Result // indexed by strategy and scenario
		mu      sync.Mutex // serializes progress
	)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(cmp.Or(bounds.Workers, runtime.GOMAXPROCS(0)))
	bounds.Workers = 1
	for _, s := range strategies {
		ofStrategy := make([]Result, len(ScenariosFor(s, actors)))
		results = append(results, ofStrategy)
		limits, simulatorPool := bounds, &sync.Pool{}
		if s.OnNodes && (bounds.Schedules == 0 || bounds.Schedules > MaxSchedulesOnNodes) {
			limits.Schedules = MaxSchedulesOnNodes
		}
		for j, named := range ScenariosFor(s, actors) {
			report := func(now Result, ended bool) {
				mu.Lock()
				defer mu.Unlock()
				if ended {
					ofStrategy[j] = now
				}
				progress(named, now, ended)
			}
			group.Go(func() error {
				goal := Goal{All: true, Progress: func(now Result) { report(now, false) }, simulatorPool: simulatorPool}
				result, err := Explore(ctx, s, named.Scenario, goal, limits)
				if err == nil {
					report(result, true)
				}
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var rows []LockRow
	for i, s := range strategies {
		rows = append(rows, newLockRow(s, ScenariosFor(s, actors), results[i]))
	}
	return rows, nil
}

// newLockRow returns the row of a strategy, given its result in each of its scenarios.
func newLockRow(s strategy.Strategy, scenarios []NamedScenario, results []Result) LockRow {
	row := LockRow{Lock: s.Name}
	for _, a := range Anomalies() {
		if a.IsOnRequest() {
			continue
		}
		cell := AnomalyCell{Anomaly: a, Applies: a.IsPromisedBy(s), Complete: true}
		for i, result := range results {
			found := false
			for _, e := range result.Found {
				if e.Anomaly() == a {
					found = true
					e.Scenario = scenarios[i]
					cell.Found = append(cell.Found, e)
				}
			}
			judged := result.Complete && !result.Coverage.Undecided && !slices.Contains(result.Unjudged(), a)
			cell.Complete = cell.Complete && (found || judged)
			cell.Interrupted = cell.Interrupted || !found && result.Interrupted
		}
		slices.SortStableFunc(cell.Found, func(a, b Recording) int { return a.Length() - b.Length() })
		row.Cells = append(row.Cells, cell)
	}
	return row
}
