package result

import (
	"slices"

	"lockstep/bench/internal/contestants"
)

// Metric returns one number of a cell.
type Metric func(Cell) float64

// PerSecond returns the sales per second.
func PerSecond(c Cell) float64 { return c.PerSecond }

// Share returns the share of the limit.
func Share(c Cell) float64 { return c.Share }

// Requests returns the requests per sale.
func Requests(c Cell) float64 { return c.Requests }

// LockRequests returns the requests of the lock per sale.
func LockRequests(c Cell) float64 { return c.LockRequests }

// Publishes returns the PUBLISH commands per sale.
func Publishes(c Cell) float64 { return c.Publishes }

// NeverServed returns the number of buyers that were not served.
func NeverServed(c Cell) float64 { return float64(c.NeverServed) }

// MaxOverMean returns the longest wait divided by the mean wait.
func MaxOverMean(c Cell) float64 { return c.Wait.MaxOverMean }

// Conditions returns the measured conditions: the longest round trip first, then by processes and buyers.
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

// Contestants returns the names of the measured contestants, in the order of the table.
func (r Run) Contestants(table []contestants.Contestant) []string {
	var names []string
	for _, c := range table {
		if slices.ContainsFunc(r.Cells, func(cell Cell) bool { return cell.Contestant == c.Name }) {
			names = append(names, c.Name)
		}
	}
	return names
}

// CellsOf returns the repetitions of a contestant under a condition.
func (r Run) CellsOf(contestant string, at Condition) []Cell {
	var cells []Cell
	for _, c := range r.Cells {
		if c.Contestant == contestant && c.Condition == at {
			cells = append(cells, c)
		}
	}
	return cells
}

// Summary summarizes a number of a contestant over the repetitions that are OK.
func (r Run) Summary(contestant string, at Condition, number Metric) Summary {
	var values []float64
	for _, c := range r.CellsOf(contestant, at) {
		if c.Status == OK {
			values = append(values, number(c))
		}
	}
	return Summarize(values)
}

// RatioToLibraries summarizes the ratio of a contestant's rate to that of the fastest library in the same repetition.
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

// Ratio summarizes the ratio of a contestant's rate to that of another in the same repetition.
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

// SetShares sets the share of the limit of each cell.
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
		other.AddedMillis - c.AddedMillis, // the longest round trip first, because it shows the largest differences
		float64(c.Processes - other.Processes),
		float64(c.Buyers - other.Buyers),
	} {
		if d != 0 {
			return int(max(-1, min(1, d*1e6)))
		}
	}
	return 0
}

// Invalid returns the cells with a wrong stock, and those of lockstep's own contestants that did not complete.
func (r Run) Invalid() []Cell {
	var wrong []Cell
	for _, c := range r.Cells {
		if c.Status == Broken || c.Status != OK && c.Kind != contestants.Library {
			wrong = append(wrong, c)
		}
	}
	return wrong
}
