package main

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/internal/explore/anomaly"

	"lockstep/museum/internal/exhibit"
	"lockstep/museum/internal/library"
	"lockstep/museum/internal/play"
	"lockstep/museum/internal/search"
)

// row is a row of the README's table that has a schedule.
type row struct {
	options
	anomaly anomaly.Anomaly
	steps   int
}

// rows reads them.
func rows(t *testing.T) (all []row) {
	t.Helper()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile("(?m)^\\| `[^`]+` \\| ([a-z-]+) \\|.*\\| (\\d+) \\| `(.*) -replay \"(.*)\"` \\|$")
	for _, cells := range pattern.FindAllStringSubmatch(string(text), -1) {
		o, err := parse(append(strings.Fields(cells[3]), "-replay", cells[4]), io.Discard)
		if err != nil {
			t.Fatalf("%s: %v", cells[0], err)
		}
		steps, err := strconv.Atoi(cells[2])
		if err != nil || steps != len(o.replay) {
			t.Errorf("%s: it has %d steps, %v", cells[0], len(o.replay), err)
		}
		all = append(all, row{o, anomaly.Anomaly(cells[1]), steps})
	}
	return all
}

// Every library has a row, and what the issue of each is known for is among them.
func TestTheTableIsWhole(t *testing.T) {
	shown := map[string]bool{}
	for _, r := range rows(t) {
		shown[r.library+" "+string(r.anomaly)] = true
	}
	for _, want := range []string{
		"redislock left-behind", "redislock-resending left-behind", "redsync-1 left-behind", "redsync-3 two-holders",
		"rueidislock stuck", "rueidislock-noloop stuck", "v4 two-holders",
	} {
		if !shown[want] {
			t.Errorf("the table does not say %q", want)
		}
	}
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range library.Names() {
		if !strings.Contains(string(text), "| `"+name+"` |") {
			t.Errorf("the table does not have %s", name)
		}
	}
}

// Each row's schedule shows what the row says.
func TestEachRowReplays(t *testing.T) {
	stage := newStage(t)
	for _, r := range rows(t) {
		if r.yield {
			continue // in TestARowThatYieldsReplays
		}
		l, err := library.Find(r.library)
		if err != nil {
			t.Fatal(err)
		}
		again, err := stage.Replay(l, r.scenario, r.replay, r.anomaly, attempts)
		if err != nil || len(again.Found) == 0 {
			t.Errorf("%s %v: %v: %+v, %v", r.library, r.scenario, r.replay, again.Found, err)
		}
	}
}

// Each row is found again, in as many steps.
func TestEachRowIsFoundAgain(t *testing.T) {
	const bound = 10_000 // runs
	stage := newStage(t)
	runs, began := 0, time.Now()
	for _, r := range rows(t) {
		if r.yield {
			continue // in TestARowThatYieldsReplays
		}
		l, err := library.Find(r.library)
		if err != nil {
			t.Fatal(err)
		}
		result, err := search.Do(stage, l, r.scenario, search.Goal{Runs: bound, Anomalies: []anomaly.Anomaly{r.anomaly}})
		runs += result.Runs
		if err != nil || len(result.Found) == 0 || len(result.Found[0].Schedule) != r.steps {
			t.Errorf("%s %v: %+v, %v; want %s in %d steps", r.library, r.scenario, result, err, r.anomaly, r.steps)
		}
	}
	t.Logf("%d runs, %.0f a second", runs, float64(runs)/time.Since(began).Seconds())
}

// A goroutine that goes first, in a copy of the library: the museum is built anew, and run.
func TestARowThatYieldsReplays(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the museum anew")
	}
	for _, r := range rows(t) {
		if !r.yield {
			continue
		}
		var out, problems strings.Builder
		arguments := slices.Concat(r.arguments, []string{"-yield"})
		if code := run(t, arguments, &out, &problems); code != 1 || !strings.Contains(out.String(), "✗") {
			t.Errorf("%v: exit %d\n%s%s", arguments, code, &out, &problems)
		}
	}
}

// How fast it is, for the record: redislock with every fault once.
func TestRunsPerSecond(t *testing.T) {
	stage := newStage(t)
	in := play.Scenario{Actors: 2}
	for f := range in.Faults {
		in.Faults[f] = 1
	}
	result, err := search.Do(stage, library.Redislock(), in, search.Goal{Runs: 2000, Anomalies: exhibit.Anomalies()})
	if err != nil || result.Runs < 1000 {
		t.Fatalf("%+v, %v", result, err)
	}
	t.Logf("redislock: %d runs in %v, %.0f a second", result.Runs, result.Took, float64(result.Runs)/result.Took.Seconds())
}

// Without NoLoopTracking a renewal of rueidislock is told of itself, and renews: for as long as one likes, without time passing.
func TestARenewalThatCausesTheNext(t *testing.T) {
	schedule := strings.Fields("A:Lock A:SET slow A:PEXPIREAT" + strings.Repeat(" A:push A:PEXPIREAT", 20))
	in := play.Scenario{Actors: 1}
	in.Faults[play.Slow] = 1
	again, err := newStage(t).Replay(library.Rueidislock(false), in, schedule, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	first, last := again.Trace.Steps[3], again.Trace.Steps[len(schedule)-1]
	if first.At != last.At {
		t.Errorf("%v passed", time.Duration(last.At-first.At))
	}
}

func newStage(t *testing.T) *play.Stage {
	t.Helper()
	stage, err := play.NewStage(t)
	if err != nil {
		t.Fatal(err)
	}
	return stage
}
