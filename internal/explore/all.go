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

// NamedScenario is one of those that All tries.
type NamedScenario = engine.NamedScenario

// Scenarios returns what All puts a strategy through: nothing unusual, each way to use a lock, and each fault once, except for the faults
// of nodes, and for those that break every lock that expires, or every one on one Redis.
func Scenarios(actors int) []NamedScenario { return engine.StandardScenarios(actors, false) }

// Row is what was found about one strategy.
type Row struct {
	Lock  string
	Cells []Cell // one for each anomaly that need not be named, in the order of Anomalies
}

// Cell is what was found about one strategy and anomaly.
type Cell struct {
	Anomaly  Anomaly
	Applies  bool        // the strategy promises that this does not happen
	Complete bool        // every scenario was explored to the end, or until it showed this
	Cut      bool        // a scenario was not, as the exploration was interrupted
	Found    []Recording // shortest first
}

// Verdict sums a cell up.
func (c Cell) Verdict() verdict.Verdict {
	return verdict.Search{Found: len(c.Found) > 0, Complete: c.Complete}.Verdict()
}

// String returns the cell in a table: the scenario that shows the anomaly in the fewest steps, and how many these are; "never" if none
// does; "unknown" if a bound was hit or Redis does not tell, "interrupted" if that came first; "–" if the strategy does not promise this.
func (c Cell) String() string {
	switch {
	case !c.Applies:
		return "–"
	case len(c.Found) > 0:
		return fmt.Sprintf("%s, %d", c.Found[0].Scenario.Name, c.Found[0].Length())
	case c.Complete:
		return "never"
	case c.Cut:
		return "interrupted"
	default:
		return "unknown"
	}
}

// SchedulesOnNodes bounds what All explores of a lock on several masters in one scenario. With three masters, none has so many.
const SchedulesOnNodes = 200_000

// ScenariosOf returns those that All puts a strategy through.
func ScenariosOf(s strategy.Strategy, actors int) []NamedScenario {
	return engine.StandardScenarios(actors, s.OnNodes)
}

// All puts strategies through all scenarios, looking for all anomalies. It explores as many scenarios at a time as bounds has workers,
// each by one, and tells progress how far each of them is, and when it ends. Once ctx ends, the rest is unknown.
func All(
	ctx context.Context, strategies []strategy.Strategy, actors int, bounds Bounds, progress func(in NamedScenario, now Result, ended bool),
) ([]Row, error) {
	var (
		results [][]Result
		telling sync.Mutex
	)
	each, ctx := errgroup.WithContext(ctx)
	each.SetLimit(cmp.Or(bounds.Workers, runtime.GOMAXPROCS(0)))
	bounds.Workers = 1
	for _, s := range strategies {
		of := make([]Result, len(ScenariosOf(s, actors))) // by scenario
		results = append(results, of)
		within, memories := bounds, &sync.Pool{}
		if s.OnNodes && (bounds.Schedules == 0 || bounds.Schedules > SchedulesOnNodes) {
			within.Schedules = SchedulesOnNodes
		}
		for j, in := range ScenariosOf(s, actors) {
			tell := func(now Result, ended bool) {
				telling.Lock()
				defer telling.Unlock()
				if ended {
					of[j] = now
				}
				progress(in, now, ended)
			}
			each.Go(func() error {
				goal := Goal{All: true, Progress: func(now Result) { tell(now, false) }, memories: memories}
				result, err := Explore(ctx, s, in.Scenario, goal, within)
				if err == nil {
					tell(result, true)
				}
				return err
			})
		}
	}
	if err := each.Wait(); err != nil {
		return nil, err
	}
	var rows []Row
	for i, s := range strategies {
		rows = append(rows, rowOf(s, ScenariosOf(s, actors), results[i]))
	}
	return rows, nil
}

// rowOf sums up what was found about a strategy in each of these scenarios.
func rowOf(s strategy.Strategy, scenarios []NamedScenario, results []Result) Row {
	row := Row{Lock: s.Name}
	for _, a := range Anomalies() {
		if a.OnRequest() {
			continue
		}
		cell := Cell{Anomaly: a, Applies: a.IsPromisedBy(s), Complete: true}
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
			cell.Cut = cell.Cut || !found && result.Interrupted
		}
		slices.SortStableFunc(cell.Found, func(a, b Recording) int { return a.Length() - b.Length() })
		row.Cells = append(row.Cells, cell)
	}
	return row
}
