package seat_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/explore/graph"
	"lockstep/internal/seat"
	"lockstep/internal/suite"
)

// The table has a row for each lock. Every broken cell's link leads to a schedule that shows its anomaly in its last step, by the same
// steps as a replay; a hint that is followed from the start gets there in as many steps, and the oracle counts with it.
func TestEveryBrokenCellIsInTheSeat(t *testing.T) {
	suite.LongOnly(t, "TestAHintLeadsTheShortestWay")
	s, broken := open(t, seat.Usual()), 0
	for _, event := range stream(t, ask(t, s, "/seat/table").Body.String()) {
		if event.name == "failed" {
			t.Fatal(event.data)
		}
		var cell seat.Cell
		if event.name != "cell" {
			continue
		}
		if err := json.Unmarshal([]byte(event.data), &cell); err != nil {
			t.Fatal(err)
		}
		if cell.Answer != "broken" {
			continue
		}
		broken++
		t.Run(cell.Lock+" "+cell.Anomaly, func(t *testing.T) { checkCell(t, s, cell) })
	}
	if broken < 40 {
		t.Errorf("%d cells are broken; want those of lockstep explore --all", broken)
	}
}

func checkCell(t *testing.T, s *seat.Seat, cell seat.Cell) {
	t.Helper()
	state := follow(t, s, cell.Link)
	v := state.View
	shows := func(shown explore.Shown) bool {
		return string(shown.Anomaly) == cell.Anomaly && shown.Step == cell.Steps
	}
	if state.Stale != nil || len(v.Trace.Steps) != cell.Steps || !slices.ContainsFunc(v.Shown, shows) {
		t.Fatalf("%s: stale %v, %d steps, shows %+v; want %d steps", cell.Link, state.Stale, len(v.Trace.Steps), v.Shown, cell.Steps)
	}
	session := sessionAt(t, v.Lock, v.Scenario, "")
	replayed, err := explore.Replay(session.Strategy(), session.Scenario(), v.Schedule)
	if err != nil || seat.Code(replayed.Trace) != state.Code {
		t.Errorf("%s: replays as %s, %v; want %s", cell.Link, seat.Code(replayed.Trace), err, state.Code)
	}
	var do []string
	pairs := func() []string {
		return []string{"lock", v.Lock, "in", v.Scenario, "do", strings.Join(do, " "), "anomaly", cell.Anomaly}
	}
	all := stream(t, ask(t, s, "/seat/oracle", pairs()...).Body.String())
	last, o := all[len(all)-1], graph.Oracle{}
	if err := json.Unmarshal([]byte(last.data), &o); err != nil || last.name == "done" && o.Now != cell.Steps {
		t.Errorf("%s: the oracle says %s, %v; want %d", cell.Link, last.data, err, cell.Steps)
	}
	if last.name == "failed" && !strings.Contains(last.data, "too_large") {
		t.Errorf("%s: the oracle has failed: %s", cell.Link, last.data)
	}
	for left := cell.Steps; ; left-- {
		hint := get[graph.Hint](t, s, "/seat/hint", pairs()...)
		if hint.Steps != left {
			t.Fatalf("%s: after %v, the hint is %+v; want %d steps", cell.Link, do, hint, left)
		}
		if left == 0 {
			return
		}
		do = append(do, hint.Next)
	}
}

// A step of the seat answers in the time of a frame or two.
func BenchmarkStep(b *testing.B) {
	s := open(b, seat.Usual())
	for _, lock := range evolution.Names()[:10] {
		for _, in := range []string{"--faults expiry=1,crash=1", "--actors 3 --faults expiry=1,crash=1"} {
			b.Run(lock+" "+in, func(b *testing.B) { walkOn(b, s, lock, in) })
		}
	}
}

// walkOn takes a step after the other, up to twenty, and reports the median.
func walkOn(b *testing.B, s *seat.Seat, lock, in string) {
	b.Helper()
	var took []time.Duration
	do := []string{}
	for b.Loop() {
		begun := time.Now()
		state := get[seat.State](b, s, "/seat/state", "lock", lock, "in", in, "do", strings.Join(do, " "))
		took = append(took, time.Since(begun))
		choices := state.View.Tokens()
		if do = append(do, ""); len(choices) == 0 || len(do) > 20 {
			do = do[:0]
			continue
		}
		do[len(do)-1] = choices[len(do)*7%len(choices)]
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/median")
}

// An oracle of a scenario with 34,475 states. Its three actors are interchangeable on the map.
func BenchmarkOracle(b *testing.B) {
	for b.Loop() {
		o := oracle(b, open(b, seat.Usual()), "lock", "v3", "in", "--actors 3 --faults expiry=1", "anomaly", string(explore.ForeignRelease))
		b.ReportMetric(float64(o.States), "states")
	}
}

// query makes one of pairs.
func query(pairs ...string) string {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q.Encode()
}
