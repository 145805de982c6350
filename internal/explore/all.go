package explore

import (
	"context"
	"fmt"
	"slices"

	"lockstep/internal/explore/scenario"
	"lockstep/internal/strategy"
)

// NamedScenario is one of those that All tries.
type NamedScenario = scenario.Named

// Scenarios are what All puts a strategy through: nothing unusual, each way to use a lock, and each fault once, except for the faults of
// nodes, and for those that break every lock on one Redis.
func Scenarios(actors int) []NamedScenario { return scenario.All(actors) }

// Row is what was found about one strategy.
type Row struct {
	Lock  string
	Cells []Cell // one for each anomaly, in the order of Anomalies
}

// Cell is what was found about one strategy and anomaly.
type Cell struct {
	Anomaly  Anomaly
	Applies  bool      // the strategy promises that this does not happen
	Complete bool      // every scenario was explored to the end, or until it showed this
	Found    []Finding // shortest first
}

// Verdict sums a cell up.
func (c Cell) Verdict() Verdict { return verdict(len(c.Found) > 0, c.Complete) }

// String is the cell in a table: the scenario that shows the anomaly in the fewest steps, and how many these are; "never" if none does;
// "unknown" if a bound was hit; "–" if the strategy does not promise this.
func (c Cell) String() string {
	switch {
	case !c.Applies:
		return "–"
	case len(c.Found) > 0:
		return fmt.Sprintf("%s, %d", c.Found[0].Scenario.Name, c.Found[0].Length)
	case c.Complete:
		return "never"
	default:
		return "unknown"
	}
}

// Finding is a counterexample with the scenario that it needs.
type Finding struct {
	Scenario NamedScenario
	Counterexample
}

// All puts strategies through all scenarios, looking for all anomalies. It tells progress of every exploration that ends. Once ctx ends,
// the rest is unknown.
func All(
	ctx context.Context, strategies []strategy.Strategy, actors int, bounds Bounds, progress func(NamedScenario, Result),
) ([]Row, error) {
	var rows []Row
	for _, s := range strategies {
		row := Row{Lock: s.Name}
		for _, a := range Anomalies() {
			row.Cells = append(row.Cells, Cell{Anomaly: a, Applies: a.Applies(s), Complete: true})
		}
		for _, in := range Scenarios(actors) {
			result, err := Explore(ctx, s, in.Scenario, Goal{All: true}, bounds)
			if err != nil {
				return rows, err
			}
			progress(in, result)
			row.take(in, result)
		}
		for i := range row.Cells {
			slices.SortStableFunc(row.Cells[i].Found, func(a, b Finding) int { return a.Length - b.Length })
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// take adds what one exploration found.
func (r *Row) take(in NamedScenario, result Result) {
	for i := range r.Cells {
		cell := &r.Cells[i]
		found := false
		for _, e := range result.Found {
			if e.Anomaly == cell.Anomaly {
				found = true
				cell.Found = append(cell.Found, Finding{in, e})
			}
		}
		cell.Complete = cell.Complete && (found || result.Complete)
	}
}
