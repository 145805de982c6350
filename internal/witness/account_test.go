package witness_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/witness"
)

// eventScript is a list of events that a test writes. Times are in milliseconds.
type eventScript []witness.Event

func at(ms int) time.Time { return time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond) }

func (s *eventScript) moment(ms int, kind witness.Kind, sale string) {
	*s = append(*s, witness.Event{Kind: kind, Replica: witness.ReplicaOf(sale), Sale: sale, Sent: at(ms), Replied: at(ms)})
}

// command adds a command with the times at which it was sent and answered.
func (s *eventScript) command(sent, replied int, sale string, c witness.Command) {
	if c.Holder == "" {
		c.Holder = sale
	}
	*s = append(*s, witness.Event{
		Kind: witness.KindCommand, Replica: witness.ReplicaOf(sale), Sale: sale, Sent: at(sent), Replied: at(replied), Command: &c,
	})
}

// takes adds that a sale asks for the lock, and obtains it.
func (s *eventScript) takes(ms int, sale string, ttl int) {
	s.moment(ms, witness.KindAsks, sale)
	s.command(ms, ms+1, sale, witness.Command{Verb: witness.Takes, Outcome: witness.Done, TTL: millis(ttl)})
	s.moment(ms+2, witness.KindObtains, sale)
}

// removes adds that a sale releases the lock. A forced release does not check the owner.
func (s *eventScript) removes(ms int, sale string, outcome witness.Outcome, forced bool) {
	s.moment(ms, witness.KindLeaves, sale)
	s.command(ms, ms+1, sale, witness.Command{Verb: witness.Removes, Outcome: outcome, Forced: forced})
	s.moment(ms+2, witness.KindEnds, sale)
}

func (s *eventScript) stock(ms int, sale string, verb witness.Verb, stock int64) {
	s.command(ms, ms+1, sale, witness.Command{Verb: verb, Outcome: witness.Done, Stock: stock})
}

func millis(ms int) witness.Millis { return witness.Millis(time.Duration(ms) * time.Millisecond) }

// sentences returns the sentences of an account's findings.
func sentences(a witness.Account) (all []string) {
	for _, f := range a.Findings {
		all = append(all, f.Sentence(language.English))
	}
	return all
}

func TestExamineReportsFaults(t *testing.T) {
	for name, test := range map[string]struct {
		play func(*eventScript)
		want []string
	}{
		"one after the other": {
			play: func(s *eventScript) {
				s.takes(0, "r1#1", 1000)
				s.removes(10, "r1#1", witness.Done, false)
				s.takes(20, "r2#1", 1000)
				s.removes(30, "r2#1", witness.Done, false)
			},
		},
		"a foreign delete": {
			play: func(s *eventScript) {
				s.takes(0, "r1#1", 1000)
				s.takes(1001, "r2#1", 1000)
				s.removes(1500, "r1#1", witness.Done, true)
			},
			want: []string{
				"r1#1's lock expired after 1.0 s, while r1#1 was still at work", "r1#1 and r2#1 were in the critical section together for 497 ms",
				"r1#1 removed r2#1's lock",
			},
		},
		"a release that leaves another's lock alone": {
			play: func(s *eventScript) {
				s.takes(0, "r1#1", 1000)
				s.takes(1001, "r2#1", 1000)
				s.removes(1500, "r1#1", witness.ByOther, false)
			},
			want: []string{
				"r1#1's lock expired after 1.0 s, while r1#1 was still at work", "r1#1 and r2#1 were in the critical section together for 497 ms",
			},
		},
		"a release that leaves another's lock alone, or finds none: it does not say which": {
			play: func(s *eventScript) {
				s.takes(0, "r1#1", 1000)
				s.takes(1001, "r2#1", 1000)
				s.removes(1500, "r1#1", witness.NotOwner, false)
				s.removes(2500, "r2#1", witness.NotOwner, false)
			},
			want: []string{
				"r1#1's lock expired after 1.0 s, while r1#1 was still at work", "r1#1 and r2#1 were in the critical section together for 497 ms",
				"r2#1's lock expired after 1.0 s, while r2#1 was still at work",
			},
		},
		"a reply that comes after the next one's": { // The DEL took effect before the other's SET.
			play: func(s *eventScript) {
				s.takes(0, "r1#1", 0)
				s.moment(10, witness.KindLeaves, "r1#1")
				s.moment(11, witness.KindAsks, "r2#1")
				s.command(12, 13, "r2#1", witness.Command{Verb: witness.Takes, Outcome: witness.Done})
				s.command(10, 20, "r1#1", witness.Command{Verb: witness.Removes, Outcome: witness.Done, Forced: true})
			},
		},
		"a reply that comes after the next one has obtained the lock": {
			play: func(s *eventScript) {
				s.takes(0, "r1#1", 0)
				s.moment(10, witness.KindLeaves, "r1#1")
				s.takes(12, "r2#1", 0)
				s.command(10, 20, "r1#1", witness.Command{Verb: witness.Removes, Outcome: witness.Done})
				s.removes(30, "r2#1", witness.Done, false)
			},
		},
		"a write after an expiry that nobody notices before the release": {
			play: func(s *eventScript) {
				s.takes(0, "r1#1", 1000)
				s.stock(1199, "r1#1", witness.Writes, 199)
				s.removes(1500, "r1#1", witness.ByNobody, false)
			},
			want: []string{
				"r1#1's lock expired after 1.0 s, while r1#1 was still at work", "r1#1 wrote 200 ms after its lock had ended",
			},
		},
		"a lost update": {
			play: func(s *eventScript) {
				s.stock(0, "r1#1", witness.Reads, 200)
				s.stock(1, "r1#2", witness.Reads, 200)
				s.stock(5, "r1#1", witness.Writes, 199)
				s.stock(7, "r1#2", witness.Writes, 199)
			},
			want: []string{"r1#2 wrote stock 199: it had read 200 before r1#1 wrote, so r1#1's update is lost"},
		},
		"a stock that somebody has written whose reply is lost": { // The stock that was read is newer than the last write that is known.
			play: func(s *eventScript) {
				s.stock(0, "r1#1", witness.Writes, 199)
				s.command(5, 3000, "r1#2", witness.Command{Verb: witness.Writes, Outcome: witness.Unknown, Stock: 198})
				s.stock(20, "r2#1", witness.Reads, 198)
				s.stock(30, "r2#1", witness.Writes, 197)
			},
		},
		"a write whose reply comes long after others have read it": { // Its process was stopped.
			play: func(s *eventScript) {
				s.stock(0, "r3#1", witness.Writes, 200)
				s.stock(5, "r1#1", witness.Reads, 200)
				s.stock(20, "r2#1", witness.Reads, 199)
				s.stock(30, "r2#1", witness.Writes, 198)
				s.stock(40, "r2#2", witness.Reads, 198)
				s.stock(50, "r2#2", witness.Writes, 197)
				s.command(10, 900, "r1#1", witness.Command{Verb: witness.Writes, Outcome: witness.Done, Stock: 199})
				s.stock(1000, "r2#3", witness.Reads, 197)
				s.stock(1010, "r2#3", witness.Writes, 196)
			},
		},
		"a write that is held on its way for long": {
			play: func(s *eventScript) {
				s.stock(0, "r1#1", witness.Reads, 200)
				s.stock(20, "r2#1", witness.Reads, 200)
				s.stock(30, "r2#1", witness.Writes, 199)
				s.stock(40, "r2#2", witness.Reads, 199)
				s.stock(50, "r2#2", witness.Writes, 198)
				s.command(10, 900, "r1#1", witness.Command{Verb: witness.Writes, Outcome: witness.Done, Stock: 199})
			},
			want: []string{"r1#1 wrote stock 199: it had read 200 before r2#2 wrote, so r2#2's update is lost"},
		},
		"a nested call that waits for its caller": {
			play: func(s *eventScript) {
				s.takes(0, "r1#1", 10_000)
				s.moment(5, witness.KindAsks, "r1#1")
				s.command(6, 7, "r1#1", witness.Command{Verb: witness.Takes, Outcome: witness.Refused})
				s.moment(1005, witness.KindLeaves, "r1#1")
			},
			want: []string{"r1#1 waited for 1.0 s for a lock that it held itself"},
		},
		"a nested call that gets it": {
			play: func(s *eventScript) {
				s.takes(0, "r1#1", 10_000)
				s.command(6, 7, "r1#1", witness.Command{Verb: witness.Takes, Outcome: witness.Again, TTL: millis(10_000)})
				s.moment(8, witness.KindObtains, "r1#1")
				s.command(9, 10, "r1#1", witness.Command{Verb: witness.Removes, Outcome: witness.Again})
				s.moment(11, witness.KindLeaves, "r1#1")
				s.removes(12, "r1#1", witness.Done, false)
				s.takes(20, "r2#1", 1000)
			},
		},
		"a holder that dies": {
			play: func(s *eventScript) {
				s.takes(0, "r1#1", 0)
				s.moment(5, witness.KindDies, "r1")
				s.moment(6, witness.KindAsks, "r2#1")
				s.command(7, 8, "r2#1", witness.Command{Verb: witness.Takes, Outcome: witness.Refused})
				s.moment(2000, witness.KindEnds, "r2#1")
			},
			want: []string{
				"r1#1 is gone, and its lock stays: it never expires, and no sale removes it", "r2#1 waited for 2.0 s behind r1#1, in vain",
			},
		},
		"a lock that somebody has, though nobody was told": {
			play: func(s *eventScript) {
				s.command(0, 3000, "r1#1", witness.Command{Verb: witness.Takes, Outcome: witness.Unknown})
				s.moment(3001, witness.KindEnds, "r1#1")
				s.command(4000, 4001, "r2#1", witness.Command{Verb: witness.Takes, Outcome: witness.Refused})
			},
			want: []string{"r1#1 is gone, and its lock stays: it never expires, and no sale removes it"},
		},
		"a lock that somebody takes after giving up": { // The command was held on its way.
			play: func(s *eventScript) {
				s.command(0, 3000, "r1#1", witness.Command{Verb: witness.Takes, Outcome: witness.Unknown, TTL: millis(1000)})
				s.moment(3001, witness.KindEnds, "r1#1")
				*s = append(*s, witness.Event{Kind: witness.KindCommandReleased, Replica: "r1", Sent: at(4000), Replied: at(4000)})
				s.moment(4001, witness.KindAsks, "r2#1")
				s.command(4002, 4003, "r2#1", witness.Command{Verb: witness.Takes, Outcome: witness.Refused})
				s.command(5000, 5001, "r2#1", witness.Command{Verb: witness.Takes, Outcome: witness.Done, Polls: 20, TTL: millis(1000)})
				s.moment(5002, witness.KindObtains, "r2#1")
			},
			want: []string{"r2#1 waited for 1.0 s behind r1#1", "r2#1 asked for the lock 21 times in vain"},
		},
		"a Redis that fails over": {
			play: func(s *eventScript) {
				s.takes(0, "r1#1", 0)
				s.nodeEvent(50, witness.KindFailsOver, 0)
				s.takes(60, "r2#1", 0)
				s.removes(80, "r2#1", witness.Done, false)
			},
			want: []string{"Redis forgot r1#1's lock", "r1#1 and r2#1 were in the critical section together for 18 ms"},
		},
		"a sale that is given no answer": {
			play: func(s *eventScript) {
				s.command(0, 3000, "r1#1", witness.Command{Verb: witness.Takes, Outcome: witness.Unknown})
				s.moment(3001, witness.KindEnds, "r1#1")
				(*s)[len(*s)-1].Error = "unknown"
			},
			want: []string{"r1#1 asked for the lock, had no reply for 3.0 s, and failed"},
		},
		"a write into a run that is over": {
			play: func(s *eventScript) {
				s.stock(0, "r1#1", witness.Reads, 200)
				(*s)[0].Token = 133
				s.command(1, 2, "r1#1", witness.Command{Verb: witness.Writes, Outcome: witness.Over})
				(*s)[1].Token = 67
			},
		},
		"a token that is refused": {
			play: func(s *eventScript) {
				s.stock(0, "r1#1", witness.Reads, 200)
				(*s)[0].Token = 133
				s.command(1, 2, "r2#1", witness.Command{Verb: witness.Writes, Outcome: witness.Refused})
				(*s)[1].Token = 67
			},
			want: []string{"the store refused r2#1: its token 67 < 133"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var s eventScript
			test.play(&s)
			s.moment(1602, "", "") // end of the recording
			got := sentences(witness.Examine(s))
			if !slices.Equal(got, test.want) {
				t.Errorf("got findings\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
			}
		})
	}
}

// A trace of a running lock is drawn like a schedule of the explorer.
func TestTraceShowsForeignRelease(t *testing.T) {
	var s eventScript
	s.takes(0, "r1#1", 1000)
	s.takes(1001, "r2#1", 1000)
	s.removes(1500, "r1#1", witness.Done, true)
	for i := range s {
		if c := s[i].Command; c != nil {
			c.Text, c.Reply = map[witness.Verb]string{witness.Takes: "SET distributedLock 1 NX", witness.Removes: "DEL distributedLock"}[c.Verb], "1"
		}
	}
	want := `     r1#1     r2#1   Redis
  1  ├────────────────▶│   SET distributedLock 1 NX → 1
     ┃                 │   r1#1 takes the lock
     ┃                 │   [lock: r1#1]
  2  ┃                 ◷   r1#1's lock expires
     ┃                 │   [no lock]
  3  ┃        ├───────▶│   SET distributedLock 1 NX → 1
     ┃        ┃        │   r2#1 takes the lock
     ┃        ┃        │   [lock: r2#1]
  4  ├────────╂───────▶│   DEL distributedLock → 1
     │        ┃        │   r1#1 removed r2#1's lock
     │        ┃        │   [no lock]
  5  ○        ┃        │   r1#1 has sold
`
	if got := witness.Examine(s).Trace(language.English).Sequence(); got != want {
		t.Errorf("got trace\n%s\nwant\n%s", got, want)
	}
}
