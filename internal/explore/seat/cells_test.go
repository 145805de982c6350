package seat_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/explore/seat"
	"lockstep/internal/explore/session"
	"lockstep/internal/test/suite"
)

// Every broken cell of the table that is shipped has a link that leads to a schedule that shows its anomaly in its last step, by the same
// steps as a replay. Hints that are followed from the start get there in as many steps; so say those of a seat that has not seen the table,
// and its oracle counts down with them. That the cells are so is said in internal/test/oracle.
func TestEveryBrokenCellIsInTheSeat(t *testing.T) {
	suite.LongOnly(t, "TestAHintLeadsTheShortestWay")
	limits := seat.Usual()
	limits.Hint.Schedules, limits.Map.Schedules = 30_000, 200_000 // not the time, which depends on the machine
	limits.Hint.Time, limits.Map.Time = 0, 0
	limits.Longer, limits.Run = suite.Patience, suite.Patience
	c := cells{seat: open(t, limits)}
	limits.Table = nil
	c.limits, c.fresh = limits, open(t, limits)
	for _, lock := range evolution.Names() {
		for _, cell := range shipped(t).Rows[lock].Cells {
			if cell.Answer == "broken" {
				t.Run(cell.Lock+" "+cell.Anomaly, func(t *testing.T) { c.check(t, cell) })
			}
		}
	}
	if c.broken < 40 {
		t.Errorf("%d cells are broken; want those of lockstep explore --all", c.broken)
	}
}

// events gives the events of a stream one by one. The stream waits until the one before has been dealt with.
func events(t *testing.T, s http.Handler, path string) iter.Seq[event] {
	t.Helper()
	return func(yield func(event) bool) {
		ctx, leave := context.WithCancel(t.Context())
		read, write := io.Pipe()
		var over sync.WaitGroup
		over.Go(func() {
			s.ServeHTTP(piped{httptest.NewRecorder(), write}, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
			_ = write.Close()
		})
		defer over.Wait()
		defer func() { leave(); _ = read.Close() }()
		for lines, name := bufio.NewScanner(read), ""; lines.Scan(); {
			if text, is := strings.CutPrefix(lines.Text(), "event: "); is {
				name = text
			} else if text, is := strings.CutPrefix(lines.Text(), "data: "); is && !yield(event{name, text}) {
				return
			}
		}
	}
}

// piped is an answer that is read while it is written.
type piped struct {
	*httptest.ResponseRecorder

	to io.Writer
}

func (p piped) Write(text []byte) (int, error) { return p.to.Write(text) }

// cells are those of the table, as they are checked.
type cells struct {
	seat   chair       // knows the table
	limits seat.Limits // of a seat that does not
	fresh  chair       // does not know the table
	broken int
}

func (c *cells) check(t *testing.T, cell seat.Cell) {
	t.Helper()
	c.broken++
	state := follow(t, c.seat, cell.Link)
	v := state.View
	shows := func(shown explore.Shown) bool {
		return string(shown.Anomaly) == cell.Anomaly && shown.Step == cell.Steps
	}
	if state.Stale != nil || len(v.Steps) != cell.Steps || !slices.ContainsFunc(v.Shown, shows) {
		t.Fatalf("%s: stale %v, %d steps, shows %+v; want %d steps", cell.Link, state.Stale, len(v.Steps), v.Shown, cell.Steps)
	}
	session := sessionAt(t, v.Lock, v.Scenario, "")
	replayed, err := explore.Replay(session.Strategy(), session.Scenario(), v.Schedule)
	if err != nil || seat.Code(replayed.Trace) != state.Code {
		t.Errorf("%s: replays as %s, %v; want %s", cell.Link, seat.Code(replayed.Trace), err, state.Code)
	}
	begun := time.Now()
	do := c.followHints(t, cell, v.Scenario)
	hinted := time.Now()
	states := c.countDown(t, cell, v.Scenario, do)
	t.Logf("%s %s: %d steps, hints in %.1f s; a map of %d states in %.1f s",
		cell.Lock, v.Scenario, cell.Steps, hinted.Sub(begun).Seconds(), states, time.Since(hinted).Seconds())
}

// followHints goes to where the hints lead, which shows the anomaly. At the start, half way, and one step before the end, a seat that knows
// no way yet says the same.
func (c *cells) followHints(t *testing.T, cell seat.Cell, in string) (do string) {
	t.Helper()
	pairs := func() []string { return []string{"lock", cell.Lock, "in", in, "do", do, "anomaly", cell.Anomaly} }
	for left := cell.Steps; ; left-- {
		hint := get[session.Hint](t, c.seat, "/seat/hint", pairs()...)
		if hint.Steps != left || len(strings.Fields(do)) != cell.Steps-left {
			t.Fatalf("%s in %s: after %q, the hint is %+v; want %d steps", cell.Lock, in, do, hint, left)
		}
		if left == cell.Steps || left == cell.Steps/2 || left == 1 {
			anew := get[session.Hint](t, open(t, c.limits), "/seat/hint", pairs()...)
			if anew.Steps != left {
				t.Errorf("%s in %s: after %q, a seat that knows no way says %+v; want %d steps", cell.Lock, in, do, anew, left)
			}
		}
		if left == 0 {
			return do
		}
		do = strings.TrimSpace(do + " " + hint.Next)
	}
}

// countDown asks for an oracle at the end of a shortest way: it says how far the anomaly was away at each step. The answer is how many
// states its map has.
func (c *cells) countDown(t *testing.T, cell seat.Cell, in, do string) (states int) {
	t.Helper()
	all := stream(t, ask(t, c.fresh, "/seat/oracle", "lock", cell.Lock, "in", in, "do", do, "anomaly", cell.Anomaly).Body.String())
	last := all[len(all)-1]
	if last.name != "done" {
		t.Fatalf("%s in %s: no map: %s", cell.Lock, in, last.data)
	}
	o := decoded[session.Oracle](t, last.data)
	var want []int
	for away := cell.Steps; away >= 0; away-- {
		want = append(want, away)
	}
	if !slices.Equal(o.Path, want) {
		t.Fatalf("%s in %s: the oracle says %s on the way %q; want %v", cell.Lock, in, last.data, do, want)
	}
	return o.States
}

// decoded reads the data of an event.
func decoded[T any](t *testing.T, data string) (value T) {
	t.Helper()
	if err := json.Unmarshal([]byte(data), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// query makes one of pairs.
func query(pairs ...string) string {
	q := url.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		q.Set(pair[0], pair[1])
	}
	return q.Encode()
}
