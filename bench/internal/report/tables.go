package report

import (
	"fmt"
	"math"
	"slices"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/result"
	"lockstep/internal/evolution"
)

// table is a table of text. Markdown shows some of the tables of Text, and joins those that a reader compares.
type table struct {
	title string
	head  []string
	rows  [][]string
	of    column // number that the table shows
}

// tableSetting is an added round trip and a number of processes, which a set of tables has in common.
type tableSetting struct {
	added     float64
	processes int
}

func (s tableSetting) String() string {
	text := fmt.Sprintf("%d processes", s.processes)
	if s.processes == 1 {
		text = "one process"
	}
	if s.added == 0 {
		return "loopback, " + text
	}
	return fmt.Sprintf("%g ms added, %s", s.added, text)
}

// tableSettings returns the measured settings in order, and the numbers of buyers of each.
func tableSettings(run result.Run) (all []tableSetting, buyers map[tableSetting][]int) {
	buyers = map[tableSetting][]int{}
	for _, at := range run.Conditions() {
		s := tableSetting{at.AddedMillis, at.Processes}
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
		buyers[s] = append(buyers[s], at.Buyers)
	}
	return all, buyers
}

// column is a number that has a table for each setting.
type column struct {
	title  string
	format func([]result.Cell) string
	page   string // title of its table on the page; "": only the terminal shows it
	short  string // name in that table
}

func columns() []column {
	return []column{
		{"share of the limit", summaryCell(result.Share, 2), speedTable, "share"},
		{"sales per second", summaryCell(result.PerSecond, 0), "", ""},
		{"requests per sale", summaryCell(result.Requests, 2), speedTable, "requests"},
		{"requests of the lock per sale", summaryCell(result.LockRequests, 2), "", ""},
		{"wait in ms: p50 / p99 / longest", onlyWithWaiters(formatWaits), "", ""},
		{"longest wait over mean", onlyWithWaiters(summaryCell(result.MaxOverMean, 1)), waitTable, "wait"},
		{"buyers that never got in", onlyWithWaiters(summaryCell(result.NeverServed, 0)), waitTable, "never"},
	}
}

// Titles of the tables on the page.
const (
	speedTable = "share of the limit, and requests per sale"
	waitTable  = "longest wait over mean, and buyers that never got in"
)

// pageColumns returns the numbers that the page shows for a setting. It shows only the setting of the findings, where the locks differ
// most.
func pageColumns(run result.Run, s tableSetting) []column {
	if at, found := busiestCondition(run); found && s != (tableSetting{at.AddedMillis, at.Processes}) {
		return nil
	}
	return slices.DeleteFunc(columns(), func(n column) bool { return n.page == "" })
}

// onlyWithWaiters omits the cells in which no buyer waits for another.
func onlyWithWaiters(of func([]result.Cell) string) func([]result.Cell) string {
	return func(cells []result.Cell) string {
		if len(cells) > 0 && (cells[0].Kind == contestants.Limit || cells[0].Buyers == 1) {
			return "–"
		}
		return of(cells)
	}
}

// newTables returns the tables of a setting, with a row for each contestant and a column for each number of buyers.
func newTables(run result.Run, all []contestants.Contestant, s tableSetting, buyers []int, numbers []column) []table {
	head := []string{"buyers"}
	for _, w := range buyers {
		head = append(head, fmt.Sprint(w))
	}
	var tables []table
	for _, number := range numbers {
		t := table{title: number.title, head: head, of: number}
		for _, name := range run.Contestants(all) {
			row, measured := []string{name}, false
			for _, w := range buyers {
				cells := run.CellsOf(name, result.Condition{AddedMillis: s.added, Processes: s.processes, Buyers: w})
				row = append(row, number.format(cells))
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

// joinForPage joins the tables that stand in one table on the page.
func joinForPage(all []table) (joined []table) {
	for _, t := range all {
		t.title = t.of.page
		t.head = slices.Clone(t.head)
		for i := range t.head[1:] {
			t.head[i+1] = t.of.short + ", " + t.head[i+1]
		}
		if last := len(joined) - 1; last >= 0 && joined[last].title == t.title {
			joined[last] = joined[last].join(t)
		} else {
			joined = append(joined, t)
		}
	}
	return joined
}

// join appends the columns of other. Both tables have a row for each contestant.
func (t table) join(other table) table {
	t.head = append(t.head, other.head[1:]...)
	for i, row := range t.rows {
		t.rows[i] = append(row, other.rows[i][1:]...)
	}
	return t
}

// goalTable returns the table of the goals and the measured values.
func goalTable(run result.Run) table {
	t := table{title: "Goals", head: []string{"contestant", "what", "where", "buyers", "goal", "measured", ""}}
	for _, g := range run.Goals() {
		met := "met"
		if !g.IsMet {
			met = "**missed**"
		}
		where := tableSetting{g.Condition.AddedMillis, g.Condition.Processes}.String()
		t.rows = append(t.rows, []string{
			g.Contestant, g.What, where, fmt.Sprint(g.Condition.Buyers), g.Want,
			withStatus(formatSummary(g.Measured, 2), run.CellsOf(g.Contestant, g.Condition)), met,
		})
	}
	return t
}

// countMet returns the number of goals that are met, and of all goals.
func countMet(run result.Run) (met, total int) {
	goals := run.Goals()
	for _, g := range goals {
		if g.IsMet {
			met++
		}
	}
	return met, len(goals)
}

// summaryCell formats a number over the repetitions that are OK, and the status of the others.
func summaryCell(number result.Metric, digits int) func([]result.Cell) string {
	return func(cells []result.Cell) string {
		var values []float64
		for _, c := range cells {
			if c.Status == result.OK {
				values = append(values, number(c))
			}
		}
		return withStatus(formatSummary(result.Summarize(values), digits), cells)
	}
}

// formatSummary formats a summary as "median (min–max)", or as the median alone if they do not differ. The median is rounded in two steps,
// as it is wherever the figures of figures.json are shown, so that no two documents differ in its last digit.
func formatSummary(s result.Summary, digits int) string {
	median := evolution.Round(s.Median)
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

// formatWaits formats the medians of three quantiles of the waits.
func formatWaits(cells []result.Cell) string {
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
	if result.Summarize(p50).Median < 10 {
		digits = 1
	}
	return withStatus(fmt.Sprintf("%.*f / %.*f / %.*f", digits, result.Summarize(p50).Median, digits, result.Summarize(p99).Median,
		digits, result.Summarize(longest).Median), cells)
}

// withStatus appends the number of repetitions that are not OK, by status.
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
