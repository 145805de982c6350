package explore

import (
	"context"
	"slices"
	"time"

	"lockstep/internal/strategy"
)

// NamedScenario is one column of what a table of all strategies tries.
type NamedScenario struct {
	Name string
	Scenario
}

// Scenarios are what All puts a strategy through: nothing unusual, each way to use a lock, and each fault once, but for those of
// nodes.
func Scenarios(actors int) []NamedScenario {
	all := []NamedScenario{
		{"no fault", Scenario{Actors: actors}},
		{"nested", Scenario{Actors: actors, Nested: 1}},
		{"try", Scenario{Actors: actors, Try: 1}},
		{"work", Scenario{Actors: actors, Work: 25 * time.Second}},
		{"skew", Scenario{Actors: actors, Skew: 15 * time.Second}},
	}
	for _, name := range FaultNames() {
		s := Scenario{Actors: actors}
		for _, f := range s.Faults.table() {
			if f.name == name {
				*f.budget = 1
			}
		}
		if s.Faults.ofNodes() {
			continue
		}
		all = append(all, NamedScenario{name, s})
	}
	return all
}

// Row is what was found about one strategy.
type Row struct {
	Lock  string
	Cells []Cell // one a property, in the order of Properties
}

// Cell is what was found about one strategy and property.
type Cell struct {
	Property Property
	Applies  bool      // the strategy promises this at all
	Complete bool      // every scenario was explored to the end, or until it broke this
	Broken   []Finding // shortest first
}

// Verdict sums a cell up.
func (c Cell) Verdict() Verdict {
	switch {
	case len(c.Broken) > 0:
		return Broken
	case c.Complete:
		return Holds
	default:
		return Unknown
	}
}

// Finding is a counterexample with the scenario that it needs.
type Finding struct {
	Scenario NamedScenario
	Counterexample
}

// All puts strategies through all scenarios, looking at all properties. It tells progress of every exploration that ends.
// Once ctx ends, the rest is unknown.
func All(
	ctx context.Context, strategies []strategy.Strategy, actors int, bounds Bounds, progress func(NamedScenario, Result),
) ([]Row, error) {
	var rows []Row
	for _, strategy := range strategies {
		row := Row{Lock: strategy.Name}
		for _, p := range Properties() {
			row.Cells = append(row.Cells, Cell{Property: p, Applies: p.Applies(strategy), Complete: true})
		}
		for _, scenario := range Scenarios(actors) {
			result, err := Explore(ctx, strategy, scenario.Scenario, Goal{All: true}, bounds)
			if err != nil {
				return rows, err
			}
			progress(scenario, result)
			row.take(scenario, result)
		}
		for i := range row.Cells {
			slices.SortStableFunc(row.Cells[i].Broken, func(a, b Finding) int { return a.Length - b.Length })
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// take adds what one exploration found.
func (r *Row) take(scenario NamedScenario, result Result) {
	for i := range r.Cells {
		cell := &r.Cells[i]
		found := false
		for _, e := range result.Broken {
			if e.Property == cell.Property {
				found = true
				cell.Broken = append(cell.Broken, Finding{scenario, e})
			}
		}
		cell.Complete = cell.Complete && (found || result.Complete)
	}
}
