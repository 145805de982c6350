package report

import (
	"strings"
	"testing"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/result"
)

// newRun returns a run in which v10 is fast, v4 starves buyers, and v11 caches the lock for a single buyer.
func newRun() result.Run {
	one := result.Condition{AddedMillis: 1, Processes: 1, Buyers: 1}
	together := result.Condition{AddedMillis: 1, Processes: 1, Buyers: 200}
	few := result.Condition{AddedMillis: 1, Processes: 3, Buyers: 16}
	many := result.Condition{AddedMillis: 1, Processes: 3, Buyers: 200}
	crowd := result.Condition{AddedMillis: 1, Processes: 3, Buyers: 1000}
	near := result.Condition{Processes: 3, Buyers: 200}
	cell := func(name string, kind contestants.Kind, at result.Condition, perSecond, requests, lock float64) result.Cell {
		return result.Cell{
			Contestant: name, Kind: kind, Condition: at, Repetition: 1, Status: result.OK, PerSecond: perSecond,
			Requests: requests, LockRequests: lock, Wait: result.WaitStats{MaxOverMean: 1.5},
		}
	}
	run := result.Run{Command: "-seed 1", Cells: []result.Cell{
		cell("limit", contestants.Limit, one, 400, 2, 0), cell("v10", contestants.Step, one, 200, 4, 2),
		cell("v11", contestants.Step, one, 388, 2, 0.02),
		cell("limit", contestants.Limit, together, 400, 2, 0), cell("v4", contestants.Step, together, 396, 2, 0),
		cell("limit", contestants.Limit, few, 400, 2, 0), cell("v4", contestants.Step, few, 396, 2, 0),
		cell("limit", contestants.Limit, many, 400, 2, 0), cell("v10", contestants.Step, many, 392, 2.03, 0.03),
		cell("v4", contestants.Step, many, 100, 48, 46), cell("redsync", contestants.Library, many, 160, 124, 122),
		cell("rueidislock", contestants.Library, many, 200, 6, 4), cell("atomic", contestants.Lockless, many, 9000, 1, 0),
		cell("limit", contestants.Limit, crowd, 400, 2, 0), cell("v4", contestants.Step, crowd, 396, 2, 0),
		cell("limit", contestants.Limit, near, 4000, 2, 0), cell("v4", contestants.Step, near, 3900, 48, 46),
	}}
	run.Cells[9].NeverServed = 150
	result.SetShares(run.Cells)
	return run
}

// The document begins with the findings and the picture, and ends with how to run bench. It has the tables of the setting of the findings.
func TestMarkdownPutsFindingsFirst(t *testing.T) {
	var text strings.Builder
	if err := Markdown(&text, newRun(), contestants.Table()); err != nil {
		t.Fatal(err)
	}
	last := 0
	for _, part := range []string{
		"# Benchmarks\n", findings(newRun()), "](benchmarks.svg)", "## How to read it",
		"## 1 ms added, 3 processes", "### Share of the limit, and requests per sale", "| buyers | share, 16 | share, 200 |",
		"### Longest wait over mean, and buyers that never got in", "## How to run it",
	} {
		at := strings.Index(text.String()[last:], part)
		if at < 0 || part == "" {
			t.Errorf("got\n%s\nwant %q after %d", text.String(), part, last)
			continue
		}
		last += at + len(part)
	}
	if n := strings.Count(text.String(), "\n### "); n != 2 {
		t.Errorf("%d tables; want 2:\n%s", n, text.String())
	}
}

func TestTextShowsAllTables(t *testing.T) {
	var text strings.Builder
	if err := Text(&text, newRun(), contestants.Table()); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"requests of the lock per sale\n", "wait in ms: p50 / p99 / longest\n", "\nGoals: ", "\nv10 "} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("got\n%s\nwant %q in it", text.String(), part)
		}
	}
}

func TestFindingsDescribeBusiestCondition(t *testing.T) {
	want := "With 200 buyers in 3 processes and a round trip of 1 ms, the fastest lock of the evolution, `v10`, sells at 0.98 of the limit, " +
		"the fastest library, `rueidislock`, at 0.50, and the slowest lock, `v4`, at 0.25. " +
		"In this order, a sale takes 2.0, 6.0 and 48.0 requests, the longest wait is 1.5, 1.5 and 1.5 times the mean, " +
		"and 0, 0 and 150 of the 200 buyers never got in. " +
		"With one buyer and a round trip of 1 ms, the fastest lock is `v11`, at 0.97 of the limit and 0.02 requests of the lock per sale; " +
		"the next, `v10`, reaches 0.50 with 2.00."
	if got := strings.ReplaceAll(findings(newRun()), "\n", " "); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	some := newRun()
	some.Cells = some.Cells[:2] // the limit and v10, for one buyer
	want = "With one buyer and a round trip of 1 ms, the fastest lock is `v10`, at 0.50 of the limit and 2.00 requests of the lock per sale."
	if got := strings.ReplaceAll(findings(some), "\n", " "); got != want {
		t.Errorf("of a small run: %s\nwant\n%s", got, want)
	}
	for line := range strings.Lines(findings(newRun())) {
		if len(line) > 141 {
			t.Errorf("got a line of %d characters, want at most 140: %s", len(line)-1, line)
		}
	}
	if got := findings(result.Run{}); got != "" {
		t.Errorf("got findings of an empty run: %s, want none", got)
	}
}

// The page and figures.json, which has three decimals, show the same last digit.
func TestMediansAreRoundedAsInTheFigures(t *testing.T) {
	if got := formatSummary(result.Summary{Min: 5.89, Median: 6.4146, Max: 6.94}, 2); got != "6.42 (5.89–6.94)" {
		t.Errorf("got %s, want 6.42 (5.89–6.94), as 6.415 is shown", got)
	}
}
