package witness_test

import (
	"strings"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/witness"
)

// withTexts gives each command the text and the reply of its verb.
func (s eventScript) withTexts() eventScript {
	texts := map[witness.Verb][2]string{
		witness.Takes: {"SET distributedLock 1 NX", "1"}, witness.Removes: {"DEL distributedLock", "1"},
		witness.Reads: {"GET inventory", "200"}, witness.Writes: {"SET inventory 199", "OK"},
	}
	for i := range s {
		if c := s[i].Command; c != nil {
			c.Text, c.Reply = texts[c.Verb][0], texts[c.Verb][1]
			if c.Outcome == witness.Refused {
				c.Reply = "0"
			}
		}
	}
	return s
}

// Attempts in vain are drawn at the last of them: it still found the lock, though that may have expired a little before.
func TestTraceDrawsAttemptsBeforeTheExpiry(t *testing.T) {
	for name, polled := range map[string]int{"before": 980, "at the same moment": 1000, "a little later": 1010} {
		t.Run(name, func(t *testing.T) {
			var s eventScript
			s.takes(0, "r1#1", 1000)
			s.moment(10, witness.KindAsks, "r2#1")
			s.command(10, 11, "r2#1", witness.Command{Verb: witness.Takes, Outcome: witness.Refused})
			s.command(1020, 1021, "r2#1", witness.Command{
				Verb: witness.Takes, Outcome: witness.Done, TTL: millis(1000), Polls: 46, LastPoll: at(polled),
			})
			s.moment(1022, witness.KindObtains, "r2#1")
			want := `     r1#1     r2#1   Redis
  1  ├────────────────▶│   SET distributedLock 1 NX → 1
     ┃                 │   r1#1 takes the lock
     ┃                 │   [lock: r1#1]
  2  ┃        ├───────▶│   SET distributedLock 1 NX → 0
     ┃        │        │   r2#1 finds the lock held
  3  ┃        ○        │   r2#1 asks 46 more times, in vain
  4  ┃        │        ◷   r1#1's lock expires
     ┃        │        │   [no lock]
  5  ┃        ├───────▶│   SET distributedLock 1 NX → 1
     ┃        ┃        │   r2#1 takes the lock
     ┃        ┃        │   [lock: r2#1]
`
			if got := witness.Examine(s.withTexts()).Trace(language.English).Sequence(); got != want {
				t.Errorf("got trace\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// The head of a queue may ask in vain after the lock has expired, because a dead process is ahead of it. Those attempts are drawn after
// the expiry.
func TestTraceDrawsLaterAttemptsAfterTheExpiry(t *testing.T) {
	var s eventScript
	s.takes(0, "r1#1", 1000)
	s.moment(10, witness.KindAsks, "r2#1")
	s.command(10, 11, "r2#1", witness.Command{Verb: witness.Takes, Outcome: witness.Refused})
	s.command(1500, 1501, "r2#1", witness.Command{Verb: witness.Takes, Outcome: witness.Done, Polls: 5, LastPoll: at(1250)})
	steps := witness.Examine(s.withTexts()).Trace(language.English).Steps
	if len(steps) != 5 || steps[3].Says != "r2#1 asks 5 more times, in vain" {
		t.Errorf("got steps %+v, want 5 with the attempts after the expiry", steps)
	}
}

// A write that was sent before its sale learns of the loss of its lock is drawn where it was sent, and where it arrives.
func TestTraceDrawsWhenADelayedCommandIsSent(t *testing.T) {
	var s eventScript
	s.takes(0, "r1#1", 1000)
	s.stock(10, "r1#1", witness.Reads, 200)
	s.replicaEvent(21, witness.KindCommandHeld, "r1")
	s.replicaEvent(22, witness.KindStops, "r1")
	s.takes(1001, "r2#1", 1000)
	s.stock(1010, "r2#1", witness.Reads, 200)
	s.stock(1020, "r2#1", witness.Writes, 199)
	s.replicaEvent(1030, witness.KindResumes, "r1")
	s.moment(1031, witness.KindLoses, "r1#1")
	s.replicaEvent(1032, witness.KindCommandReleased, "r1")
	s.command(20, 1040, "r1#1", witness.Command{Verb: witness.Writes, Outcome: witness.Done, Stock: 199})
	want := `     r1#1     r2#1   Redis
  1  ├────────────────▶│   SET distributedLock 1 NX → 1
     ┃                 │   r1#1 takes the lock
     ┃                 │   [lock: r1#1]
  2  ├────────────────▶│   GET inventory → 200
     ┃                 │   r1#1 reads stock 200
     ┃                 │   [lock: r1#1; stock: 200]
  3  ├────────────────…│   SET inventory 199, not there yet
     ┃                 │   r1#1 sends its write
  4  ○                 │   a command of r1 is held on its way to Redis
  5  ┋                 │   r1 stops, timers and all
  6  ┋                 ◷   r1#1's lock expires
     ┋                 │   [no lock; stock: 200]
  7  ┋        ├───────▶│   SET distributedLock 1 NX → 1
     ┋        ┃        │   r2#1 takes the lock
     ┋        ┃        │   [lock: r2#1; stock: 200]
  8  ┋        ├───────▶│   GET inventory → 200
     ┋        ┃        │   r2#1 reads stock 200
  9  ┋        ├───────▶│   SET inventory 199 → OK
     ┋        ┃        │   r2#1 writes stock 199
     ┋        ┃        │   [lock: r2#1; stock: 199]
 10  ┃        ┃        │   r1 goes on
 11  !        ┃        │   r1#1 is told that it lost the lock
 12  ○        ┃        │   the command that was held reaches Redis
 13  │┄┄┄┄┄┄┄┄╂┄┄┄┄┄┄┄▶│   SET inventory 199 → OK
     │        ┃        │   r1#1 wrote stock 199: it had read 200 before r2#1 wrote, so r2#1's update is lost; r1#1 wrote
     │        ┃        │     40 ms after its lock had ended
`
	drawn := witness.Examine(s.withTexts()).Trace(language.English)
	if got := drawn.Sequence(); got != want {
		t.Errorf("got trace\n%s\nwant\n%s", got, want)
	}
	for _, line := range []string{"r1#1-xRedis: SET inventory 199, not there yet", "r1#1-)Redis: SET inventory 199", "Redis-->>r1#1: OK"} {
		if got := drawn.Mermaid(); !strings.Contains(got, "  "+line+"\n") {
			t.Errorf("Mermaid lacks %q:\n%s", line, got)
		}
	}
}

// A repeated order that the ledger has already is drawn as no write, with the stock that the first one left.
func TestTraceDrawsRepeatedOrder(t *testing.T) {
	var s eventScript
	for i, sale := range []string{"r1#1", "r2#1"} {
		s.moment(10*i, witness.KindAsks, sale)
		s.command(10*i+1, 10*i+2, sale, witness.Command{
			Verb: witness.Writes, Outcome: []witness.Outcome{witness.Done, witness.Again}[i], Stock: 199,
			Text: "EVALSHA take.lua: DECR inventory", Reply: `{"id":"one","owner":"r1#1","stock_after":199}`,
		})
		s.moment(10*i+3, witness.KindEnds, sale)
	}
	want := `     r1#1     r2#1   Redis
  1  ├────────────────▶│   EVALSHA take.lua: DECR inventory → {…"stock_after":199}
     │                 │   r1#1 writes stock 199
     │                 │   [no lock; stock: 199]
  2  ○                 │   r1#1 has sold
  3           ├───────▶│   EVALSHA take.lua: DECR inventory → {…"stock_after":199}
              │        │   the ledger already has r2#1's order: nothing is written
  4           ○        │   r2#1 has sold
`
	if got := witness.Examine(s).Trace(language.English).Sequence(); got != want {
		t.Errorf("got trace\n%s\nwant\n%s", got, want)
	}
}
