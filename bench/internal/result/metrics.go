package result

import (
	"slices"

	"lockstep/bench/internal/contestants"
)

// Metric takes one number out of a cell.
type Metric func(Cell) float64

// PerSecond is sales per second.
func PerSecond(c Cell) float64 { return c.PerSecond }

// Share is of the limit.
func Share(c Cell) float64 { return c.Share }

// Requests is requests per sale.
func Requests(c Cell) float64 { return c.Requests }

// LockRequests is requests of the lock per sale.
func LockRequests(c Cell) float64 { return c.LockRequests }

// Publishes is PUBLISH commands per sale.
func Publishes(c Cell) float64 { return c.Publishes }

// NeverServed is how many buyers did not get their turn.
func NeverServed(c Cell) float64 { return float64(c.NeverServed) }

// MaxOverMean is the longest wait over the mean one.
func MaxOverMean(c Cell) float64 { return c.Wait.MaxOverMean }

// Conditions lists what was measured, in order.
func (r Run) Conditions() []Condition {
	var all []Condition
	for _, c := range r.Cells {
		if !slices.Contains(all, c.Condition) {
			all = append(all, c.Condition)
		}
	}
	slices.SortFunc(all, Condition.compare)
	return all
}

// Contestants lists the names of those measured, in the order of the table.
func (r Run) Contestants(table []contestants.Contestant) []string {
	var names []string
	for _, c := range table {
		if slices.ContainsFunc(r.Cells, func(cell Cell) bool { return cell.Contestant == c.Name }) {
			names = append(names, c.Name)
		}
	}
	return names
}

// CellsOf gives the repetitions of one contestant under one condition.
func (r Run) CellsOf(contestant string, at Condition) []Cell {
	var cells []Cell
	for _, c := range r.Cells {
		if c.Contestant == contestant && c.Condition == at {
			cells = append(cells, c)
		}
	}
	return cells
}

// Summary spreads a number of a contestant out over those repetitions that are OK.
func (r Run) Summary(contestant string, at Condition, number Metric) Summary {
	var values []float64
	for _, c := range r.CellsOf(contestant, at) {
		if c.Status == OK {
			values = append(values, number(c))
		}
	}
	return Summarize(values)
}

// RatioToLibraries spreads out how many times as fast a contestant is as the fastest library of the same repetition.
func (r Run) RatioToLibraries(contestant string, at Condition) Summary {
	var values []float64
	for _, ours := range r.CellsOf(contestant, at) {
		fastest := 0.0
		for _, c := range r.Cells {
			if c.Kind == contestants.Library && c.Status == OK && c.Condition == at && c.Repetition == ours.Repetition {
				fastest = max(fastest, c.PerSecond)
			}
		}
		if fastest > 0 && ours.Status == OK {
			values = append(values, ours.PerSecond/fastest)
		}
	}
	return Summarize(values)
}

// Ratio spreads out how many times as fast a contestant is as another of the same repetition.
func (r Run) Ratio(contestant, other string, at Condition) Summary {
	var values []float64
	for _, a := range r.CellsOf(contestant, at) {
		for _, b := range r.CellsOf(other, at) {
			if a.Repetition == b.Repetition && a.Status == OK && b.Status == OK && b.PerSecond > 0 {
				values = append(values, a.PerSecond/b.PerSecond)
			}
		}
	}
	return Summarize(values)
}

// SetShares fills in the share of the limit of each cell.
func SetShares(cells []Cell) {
	for i := range cells {
		cell := &cells[i]
		for _, limit := range cells {
			if limit.Kind == contestants.Limit && limit.Condition == cell.Condition && limit.Repetition == cell.Repetition && limit.PerSecond > 0 {
				cell.Share = cell.PerSecond / limit.PerSecond
			}
		}
	}
}

func (c Condition) compare(other Condition) int {
	for _, d := range []float64{
		other.AddedMillis - c.AddedMillis, // the most telling one comes first
		float64(c.Processes - other.Processes),
		float64(c.Buyers - other.Buyers),
	} {
		if d != 0 {
			return int(max(-1, min(1, d*1e6)))
		}
	}
	return 0
}

// Invalid lists the cells that must not be: those with a wrong stock, and those of our own that did not complete.
func (r Run) Invalid() []Cell {
	var wrong []Cell
	for _, c := range r.Cells {
		if c.Status == Broken || c.Status != OK && c.Kind != contestants.Library {
			wrong = append(wrong, c)
		}
	}
	return wrong
}
