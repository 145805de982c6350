package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/result"
	"lockstep/internal/evolution"
)

// The figures of the steps are medians; a lock that did not complete has none.
func TestStepsWritesMedianOfEachStep(t *testing.T) {
	run := newRun()
	run.Pings, run.Machine.Redis = []result.Ping{{AddedMillis: 1}}, "Redis 7"
	hung := slices.IndexFunc(run.Cells, func(c result.Cell) bool { return c.Contestant == "v4" && c.Buyers == 200 && c.AddedMillis == 1 })
	run.Cells[hung].Status = result.Hung
	var text bytes.Buffer
	if err := Steps(&text, run, contestants.Table()); err != nil {
		t.Fatal(err)
	}
	var got evolution.Figures
	if err := json.Unmarshal(text.Bytes(), &got); err != nil {
		t.Fatalf("%v:\n%s", err, &text)
	}
	at := func(buyers, processes int) evolution.Condition {
		return evolution.Condition{Buyers: buyers, Processes: processes}
	}
	want := []evolution.Cell{
		{Lock: "v4", Condition: at(16, 3), Share: 0.99, Commands: 2, Wait: 1.5},
		{Lock: "v4", Condition: at(200, 3), Share: 0.25, Commands: 48, Wait: 1.5},
		{Lock: "v10", Condition: at(1, 1), Share: 0.5, Commands: 4},
		{Lock: "v10", Condition: at(200, 3), Share: 0.98, Commands: 2.03, Wait: 1.5},
		{Lock: "v11", Condition: at(1, 1), Share: 0.97, Commands: 2},
	}
	if !slices.Equal(got.Cells, want) || got.Redis != "Redis 7" || got.RoundTripMillis != 1 {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
	if lines := strings.Count(text.String(), "\n"); lines != len(want)+9 {
		t.Errorf("%d lines; want a cell a line:\n%s", lines, &text)
	}
	run.Pings = append(run.Pings, result.Ping{})
	if err := Steps(&text, run, contestants.Table()); err == nil {
		t.Error("got figures of a run with two delays, want an error")
	}
}
