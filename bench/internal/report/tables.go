package report

import (
	"fmt"
	"math"
	"slices"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/result"
	"lockstep/internal/evolution"
)

// table is rows of text. Markdown shows some of those that Text shows.
type table struct {
	title string
	head  []string
	rows  [][]string
}

// setting is a round trip added, in milliseconds, and a number of processes: what a set of tables is about.
type setting struct {
	added     float64
	processes int
}

func (s setting) String() string {
	text := fmt.Sprintf("%d processes", s.processes)
	if s.processes == 1 {
		text = "one process"
	}
	if s.added == 0 {
		return "loopback, " + text
	}
	return fmt.Sprintf("%g ms added, %s", s.added, text)
}

// settings are those measured, in order, and the numbers of buyers of each.
func settings(run result.Run) (all []setting, buyers map[setting][]int) {
	buyers = map[setting][]int{}
	for _, at := range run.Conditions() {
		s := setting{at.AddedMillis, at.Processes}
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
		buyers[s] = append(buyers[s], at.Buyers)
	}
	return all, buyers
}

// number is what a table of each setting shows.
type number struct {
	title string
	show  func([]result.Cell) string
	page  bool // whether the page shows it; a terminal shows all
}

func numbers() []number {
	return []number{
		{"share of the limit", spread(result.Share, 2), true},
		{"sales per second", spread(result.PerSecond, 0), false},
		{"requests per sale", spread(result.Requests, 2), true},
		{"requests of the lock per sale", spread(result.LockRequests, 2), false},
		{"wait in ms: p50 / p99 / longest", crowded(waits), false},
		{"longest wait over mean", crowded(spread(result.MaxOverMean, 1)), true},
		{"buyers that never got in", crowded(spread(result.Never, 0)), true},
	}
}

// onPage returns the numbers that the page shows under a setting: none, unless the findings are about it, where the locks differ most.
func onPage(run result.Run, s setting) []number {
	if at, found := crowd(run); found && s != (setting{at.AddedMillis, at.Processes}) {
		return nil
	}
	return slices.DeleteFunc(numbers(), func(n number) bool { return !n.page })
}

// crowded leaves out cells in which no buyer waits for another.
func crowded(of func([]result.Cell) string) func([]result.Cell) string {
	return func(cells []result.Cell) string {
		if len(cells) > 0 && (cells[0].Kind == contestants.Limit || cells[0].Buyers == 1) {
			return "–"
		}
		return of(cells)
	}
}

// tablesOf returns the tables of a setting: a row for each contestant, a column for each number of buyers.
func tablesOf(run result.Run, all []contestants.Contestant, s setting, buyers []int, numbers []number) []table {
	head := []string{"buyers"}
	for _, w := range buyers {
		head = append(head, fmt.Sprint(w))
	}
	var tables []table
	for _, number := range numbers {
		t := table{title: number.title, head: head}
		for _, name := range run.Contestants(all) {
			row, measured := []string{name}, false
			for _, w := range buyers {
				cells := run.Of(name, result.Condition{AddedMillis: s.added, Processes: s.processes, Buyers: w})
				row = append(row, number.show(cells))
				measured = measured || row[len(row)-1] != "–"
			}
			if measured {
				t.rows = append(t.rows, row)
			}
		}
		if len(t.rows) > 0 {
			tables = append(tables, t)
		}
	}
	return tables
}

// goals is the table of what the project wants to reach, and of what was measured.
func goals(run result.Run) table {
	t := table{title: "Goals", head: []string{"contestant", "what", "where", "buyers", "goal", "measured", ""}}
	for _, g := range run.Goals() {
		met := "met"
		if !g.Met {
			met = "**missed**"
		}
		where := setting{g.At.AddedMillis, g.At.Processes}.String()
		t.rows = append(t.rows, []string{
			g.Contestant, g.What, where, fmt.Sprint(g.At.Buyers), g.Want, withStatus(show(g.Got, 2), run.Of(g.Contestant, g.At)), met,
		})
	}
	return t
}

// met counts the goals that are met, and all of them.
func met(run result.Run) (met, total int) {
	goals := run.Goals()
	for _, g := range goals {
		if g.Met {
			met++
		}
	}
	return met, len(goals)
}

// spread shows a number of those repetitions that are OK, and of the others how they ended.
func spread(number result.Number, digits int) func([]result.Cell) string {
	return func(cells []result.Cell) string {
		var values []float64
		for _, c := range cells {
			if c.Status == result.OK {
				values = append(values, number(c))
			}
		}
		return withStatus(show(result.Over(values), digits), cells)
	}
}

// show writes a median, and the least and the most if they differ. The median is rounded in two steps, as it is wherever the numbers of
// figures.json are shown, so that no two documents differ in its last digit.
func show(s result.Spread, digits int) string {
	median := evolution.Rounded(s.Median)
	low, middle, high := fmt.Sprintf("%.*f", digits, s.Min), fmt.Sprintf("%.*f", digits, median), fmt.Sprintf("%.*f", digits, s.Max)
	switch {
	case math.IsNaN(s.Median):
		return ""
	case low == high:
		return middle
	default:
		return fmt.Sprintf("%s (%s–%s)", middle, low, high)
	}
}

// waits shows medians over the repetitions.
func waits(cells []result.Cell) string {
	var p50, p99, longest []float64
	for _, c := range cells {
		if c.Status == result.OK {
			p50, p99, longest = append(p50, c.Wait.P50), append(p99, c.Wait.P99), append(longest, c.Wait.Max)
		}
	}
	if len(p50) == 0 {
		return withStatus("", cells)
	}
	digits := 0
	if result.Over(p50).Median < 10 {
		digits = 1
	}
	return withStatus(fmt.Sprintf("%.*f / %.*f / %.*f", digits, result.Over(p50).Median, digits, result.Over(p99).Median,
		digits, result.Over(longest).Median), cells)
}

// withStatus appends what went wrong in how many repetitions.
func withStatus(text string, cells []result.Cell) string {
	if len(cells) == 0 {
		return "–"
	}
	for _, status := range []result.Status{result.Hung, result.Broken, result.Failed} {
		n := 0
		for _, c := range cells {
			if c.Status == status {
				n++
			}
		}
		switch {
		case n == len(cells):
			return string(status)
		case n > 0:
			text += fmt.Sprintf(", %s %d of %d", status, n, len(cells))
		}
	}
	return text
}
