package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/locktest"
	"lockstep/museum/internal/exhibit"
	"lockstep/museum/internal/library"
)

// row is a row of the tables that has a schedule.
type row struct {
	options
	command []string // as the tables say it
	anomaly locktest.Anomaly
	steps   int
}

// here reports whether this program can replay it: as it is, and not built with another version or a copy that yields.
func (r row) here() bool { return !r.yield && !slices.Contains(r.command, "-modfile") }

// rows reads them.
func rows(t *testing.T) (all []row) {
	t.Helper()
	text, err := os.ReadFile(tables)
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile("(?m)^\\| .* \\| ([a-z-]+) \\| .* \\| (\\d+) \\| `(go run .*) -replay \"(.*)\"` \\|$")
	for _, cells := range pattern.FindAllStringSubmatch(string(text), -1) {
		command := append(strings.Fields(cells[3]), "-replay", cells[4])
		o, err := parse(command[slices.Index(command, ".")+1:], io.Discard)
		if err != nil {
			t.Fatalf("%s: %v", cells[0], err)
		}
		steps, err := strconv.Atoi(cells[2])
		if err != nil || steps != len(strings.Fields(o.replay)) {
			t.Errorf("%s: it has %d steps, %v", cells[0], len(strings.Fields(o.replay)), err)
		}
		all = append(all, row{o, command, locktest.Anomaly(cells[1]), steps})
	}
	return all
}

// Every library has a row, and what the issue of each is known for is among them.
func TestTableIsComplete(t *testing.T) {
	shown := map[string]bool{}
	for _, r := range rows(t) {
		shown[r.library+" "+string(r.anomaly)] = true
	}
	for _, want := range []string{
		"redislock left-behind", "redislock-resending left-behind", "redsync-1 left-behind", "redsync-3 two-holders", "redlock two-holders",
		"rueidislock stuck", "rueidislock busy", "rueidislock-noloop stuck", "rueidislock-noloop busy", "v4 two-holders",
		"go-zero two-holders", "go-zero-shared two-holders", "asynq left-behind",
		"redisson-port left-behind", "redisson-port-resending left-behind", "redis-py-port left-behind",
	} {
		if !shown[want] {
			t.Errorf("the table does not say %q", want)
		}
	}
	text, err := os.ReadFile(tables)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range library.Names() {
		if !strings.Contains(string(text), "| `"+name+"` |") {
			t.Errorf("the table does not have %s", name)
		}
	}
}

// Every command that a report gives to replay is a row of the tables, so the tests that replay the rows also prove the report.
func TestReportsReplayRows(t *testing.T) {
	table, err := os.ReadFile(tables)
	if err != nil {
		t.Fatal(err)
	}
	reports, err := filepath.Glob("reports/*.md")
	if err != nil || len(reports) < 2 {
		t.Fatal(reports, err)
	}
	for _, report := range reports {
		text, err := os.ReadFile(report)
		if err != nil {
			t.Fatal(err)
		}
		whole := strings.ReplaceAll(string(text), " \\\n  ", " ")
		for _, command := range regexp.MustCompile("(?m)^go run .*$").FindAllString(whole, -1) {
			if !strings.Contains(string(table), "`"+command+"`") {
				t.Errorf("%s: %s is no row", report, command)
			}
		}
		if !strings.Contains(whole, "**Version.**") && filepath.Base(report) != "README.md" {
			t.Errorf("%s names no version", report)
		}
	}
}

// Each row's schedule shows what the row says.
func TestRowsReplay(t *testing.T) {
	library.Quiet()
	for _, r := range rows(t) {
		if !r.here() {
			continue
		}
		l, err := library.Find(r.library)
		if err != nil {
			t.Fatal(err)
		}
		again, err := locktest.Show(t, r.scenario.Config(l, 0, r.anomaly), r.replay, l.Open, r.anomaly)
		if err != nil {
			t.Errorf("%s %v: %v: %+v, %v", r.library, r.scenario, r.replay, again.Found, err)
		}
	}
}

// Each row is found again, in as many steps.
func TestRowsAreFoundAgain(t *testing.T) {
	const bound = 10_000 // runs
	library.Quiet()
	runs, began := 0, time.Now()
	for _, r := range rows(t) {
		if !r.here() {
			continue
		}
		l, err := library.Find(r.library)
		if err != nil {
			t.Fatal(err)
		}
		result, err := locktest.Search(t, r.scenario.Config(l, bound, r.anomaly), l.Open)
		runs += result.Runs
		if err != nil || len(result.Found) == 0 || result.Found[0].Steps() != r.steps {
			t.Errorf("%s %v: %+v, %v; want %s in %d steps", r.library, r.scenario, result, err, r.anomaly, r.steps)
		}
	}
	t.Logf("%d runs, %.0f a second", runs, float64(runs)/time.Since(began).Seconds())
}

// Every anomaly that a library shows within a hundred runs of a scenario has a row, so the tables omit nothing that is quickly found.
func TestTableHasAllQuickFindings(t *testing.T) {
	const few = 100 // runs
	library.Quiet()
	tableRows := rows(t)
	for _, l := range library.All() {
		for _, in := range exhibit.Scenarios(l) {
			result, err := locktest.Search(t, in.Config(l, few, exhibit.Anomalies()...), l.Open)
			if err != nil {
				t.Fatalf("%s %v: %v", l.Name, in, err)
			}
			for _, f := range result.Found {
				if !slices.ContainsFunc(tableRows, func(r row) bool {
					return r.library == l.Name && r.anomaly == f.Anomaly && r.steps <= f.Steps() && r.scenario.Within(in) && r.here()
				}) {
					t.Errorf("%s %v shows %s by %v, and no row says so", l.Name, in, f.Anomaly, f.Schedule)
				}
			}
		}
	}
}

// A row that needs another program, with an older version or a copy that yields, replays by the command that the table says.
func TestCommandsOfOtherProgramsReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the museum anew")
	}
	for _, r := range rows(t) {
		if r.here() {
			continue
		}
		out, err := exec.Command(r.command[0], r.command[1:]...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "✗") {
			t.Errorf("%v: %v\n%s", r.command, err, out)
		}
	}
}

// A library whose older version was broken and has been fixed shows no anomaly in the same scenario today.
func TestFixedVersionsShowNothing(t *testing.T) {
	for _, old := range exhibit.Older() {
		l, err := library.Find(old.Library)
		if err != nil {
			t.Fatal(err)
		}
		result, err := locktest.Search(t, old.Scenario.Config(l, 2000, exhibit.Anomalies()...), l.Open)
		if err != nil || !result.Complete || len(result.Found) > 0 {
			t.Errorf("%s today: %+v, %v", old.Library, result, err)
		}
	}
}

// TestReportRunsPerSecond logs the speed of an exploration of redislock with every fault once.
func TestReportRunsPerSecond(t *testing.T) {
	library.Quiet()
	var faults []string
	for _, f := range locktest.Faults() {
		faults = append(faults, f.Name+"=1")
	}
	all := exhibit.Scenario{Actors: 2, Faults: strings.Join(faults, ",")}
	result, err := locktest.Search(t, all.Config(library.Redislock(), 2000, exhibit.Anomalies()...), library.Redislock().Open)
	if err != nil || result.Runs < 1000 {
		t.Fatalf("%+v, %v", result, err)
	}
	t.Logf("redislock: %d runs in %v, %.0f a second", result.Runs, result.Took, float64(result.Runs)/result.Took.Seconds())
}

// Without NoLoopTracking a renewal of rueidislock is told of itself, and renews: for as long as one likes, without time passing.
func TestRueidislockRenewalCausesNextRenewal(t *testing.T) {
	library.Quiet()
	schedule := "A:Lock A:SET slow A:PEXPIREAT" + strings.Repeat(" A:push A:PEXPIREAT", 20)
	l := library.Rueidislock(false)
	again, err := locktest.Show(t, exhibit.Scenario{Actors: 1, Faults: "slow=1"}.Config(l, 0), schedule, l.Open, "")
	if err != nil {
		t.Fatal(err)
	}
	if passed := strings.Count(again.Drawing, " later"); passed != 1 {
		t.Errorf("time passes %d times:\n%s", passed, again.Drawing)
	}
}
