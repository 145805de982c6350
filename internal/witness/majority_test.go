package witness_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/lock/redlock"
	"lockstep/internal/witness"
)

// onNode adds a command for one of three masters.
func (s *eventScript) onNode(sent, replied, node int, sale string, c witness.Command) {
	c.Holder = witness.ReplicaOf(sale)
	s.command(sent, replied, sale, c)
	last := &(*s)[len(*s)-1]
	last.Node, last.Nodes = node, 3
}

// takesOn adds that a sale takes the lock on some nodes.
func (s *eventScript) takesOn(ms int, sale string, nodes ...int) {
	for _, node := range nodes {
		s.onNode(ms, ms+node, node, sale, witness.Command{Verb: witness.Takes, Outcome: witness.Done, TTL: millis(1000)})
	}
}

// removesOn adds that r1#1 releases the lock on some nodes.
func (s *eventScript) removesOn(ms int, nodes ...int) {
	for _, node := range nodes {
		s.onNode(ms, ms+node, node, "r1#1", witness.Command{Verb: witness.Removes, Outcome: witness.Done})
	}
}

// nodeEvent adds an event of a node.
func (s *eventScript) nodeEvent(ms int, kind witness.Kind, node int) {
	*s = append(*s, witness.Event{Kind: kind, Node: node, Sent: at(ms), Replied: at(ms)})
}

// A sale holds the lock while it has a majority of the nodes: from the last node that it takes until it loses the majority.
func TestHoldingNeedsMajority(t *testing.T) {
	for name, test := range map[string]struct {
		play func(*eventScript)
		want []string // holder, from, to, end
	}{
		"all of them": {
			play: func(s *eventScript) { s.takesOn(0, "r1#1", 1, 2, 3); s.removesOn(100, 1, 2, 3) },
			want: []string{"r1 2 102 given-back"},
		},
		"a minority": {play: func(s *eventScript) { s.takesOn(0, "r1#1", 1); s.takesOn(10, "r2#1", 2); s.removesOn(20, 1) }},
		"one after the other": {
			play: func(s *eventScript) {
				s.takesOn(0, "r1#1", 1, 2)
				s.takesOn(10, "r2#1", 3)
				s.removesOn(20, 1, 2)
				s.takesOn(30, "r2#1", 1)
			},
			want: []string{"r1 2 21 given-back", "r2 31  "},
		},
		"a release whose reply comes late": {
			play: func(s *eventScript) {
				s.takesOn(0, "r1#1", 1, 2, 3)
				s.removesOn(20, 1)
				s.onNode(20, 60, 2, "r1#1", witness.Command{Verb: witness.Removes, Outcome: witness.Done})
				s.onNode(20, 61, 3, "r1#1", witness.Command{Verb: witness.Removes, Outcome: witness.Done})
				s.takesOn(30, "r2#1", 1, 2)
			},
			want: []string{"r1 2 60 given-back", "r2 32  "},
		},
		"an expiry": {
			play: func(s *eventScript) { s.takesOn(0, "r1#1", 1, 2); s.takesOn(1000, "r2#1", 1, 2) },
			want: []string{"r1 2 1000 expired", "r2 1002  "},
		},
		"a node that restarts empty": {
			play: func(s *eventScript) {
				s.takesOn(0, "r1#1", 1, 2)
				s.nodeEvent(50, witness.KindEmptied, 2)
				s.takesOn(60, "r2#1", 2, 3)
			},
			want: []string{"r1 2 50 forgotten", "r2 63  "},
		},
		"a node that goes down, and is not missed": {
			play: func(s *eventScript) { s.takesOn(0, "r1#1", 1, 2, 3); s.nodeEvent(50, witness.KindCrashes, 1) },
			want: []string{"r1 2  "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var s eventScript
			test.play(&s)
			var got []string
			for _, h := range witness.Examine(s).Holdings {
				to := ""
				if h.End != witness.Ongoing {
					to = fmt.Sprint(h.To.UnixMilli())
				}
				got = append(got, fmt.Sprintf("%s %d %s %s", h.Holder, h.From.UnixMilli(), to, h.End))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got holdings %q, want %q", got, test.want)
			}
		})
	}
}

// A loss on a node is reported if it costs the holder its majority, and each attempt on all nodes counts once.
func TestMajorityFindings(t *testing.T) {
	for name, test := range map[string]struct {
		play func(*eventScript)
		want []string
	}{
		"a node forgets": {
			play: func(s *eventScript) {
				s.moment(0, witness.KindAsks, "r1#1")
				s.takesOn(0, "r1#1", 1, 2)
				s.moment(5, witness.KindObtains, "r1#1")
				s.nodeEvent(50, witness.KindEmptied, 2)
				s.moment(55, witness.KindAsks, "r2#1")
				s.takesOn(60, "r2#1", 2, 3)
				s.moment(65, witness.KindObtains, "r2#1")
				s.moment(75, witness.KindLeaves, "r2#1")
			},
			want: []string{"node 2 forgot r1's lock", "r1#1 and r2#1 were in the critical section together for 10 ms"},
		},
		"a node that is not missed forgets": {
			play: func(s *eventScript) { s.takesOn(0, "r1#1", 1, 2, 3); s.nodeEvent(50, witness.KindEmptied, 2) },
		},
		"a poll": {
			play: func(s *eventScript) {
				s.takesOn(0, "r1#1", 1, 2, 3)
				s.moment(5, witness.KindAsks, "r2#1")
				s.removesOn(50, 1, 2, 3)
				for node := 1; node <= 3; node++ {
					taken := witness.Command{Verb: witness.Takes, Outcome: witness.Done, TTL: millis(1000), Polls: 20 + node}
					s.onNode(60, 60+node, node, "r2#1", taken)
				}
				s.moment(65, witness.KindObtains, "r2#1")
			},
			want: []string{"r2#1 asked for the lock 23 times in vain"},
		},
		"no reply from a minority": {
			play: func(s *eventScript) {
				s.takesOn(0, "r1#1", 1, 2)
				s.moment(5, witness.KindObtains, "r1#1")
				s.onNode(0, 3000, 3, "r1#1", witness.Command{Verb: witness.Takes, Outcome: witness.Unknown})
				s.moment(3001, witness.KindEnds, "r1#1")
				(*s)[len(*s)-1].Error = "sold out"
			},
		},
		"no reply from a majority in time": {
			play: func(s *eventScript) {
				s.takesOn(0, "r1#1", 1)
				s.onNode(0, 3000, 2, "r1#1", witness.Command{Verb: witness.Takes, Outcome: witness.Done})
				s.onNode(0, 3000, 3, "r1#1", witness.Command{Verb: witness.Takes, Outcome: witness.Done})
				s.removesOn(2001, 1)
				s.moment(2010, witness.KindEnds, "r1#1")
				(*s)[len(*s)-1].Error = "unavailable"
			},
			want: []string{"r1#1 asked for the lock, had no reply for 2.0 s, and failed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var s eventScript
			test.play(&s)
			if got := sentences(witness.Examine(s)); !slices.Equal(got, test.want) {
				t.Errorf("got findings\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
			}
		})
	}
}

// Commands for nodes are recorded as their sale's, with their replica as the holder. Of a waiter's attempts the first is recorded on each
// node, and the number of the others, but not the releases after each attempt.
func TestRecorderAttributesNodeCommands(t *testing.T) {
	s := openRecorded(t)
	const asked = 3
	for i, node := range s.Nodes {
		node.AddHook(s.recorder.HookOfNode(i+1, len(s.Nodes)))
	}
	locker := func(process string) *redlock.Locker {
		opts := s.options()
		opts.Process, opts.HandOffLimit, opts.Rand = process, 1, rand.Int64N
		return redlock.New(s.Nodes.Clients(), opts)
	}
	first, second := locker("a"), locker("b")
	s.sell(t, first, "one", func() {
		ctx := s.recorder.Follow(t.Context(), "run", lock.Owner("two"))
		for range asked {
			if _, err := second.TryLock(ctx, lock.Owner("two")); !errors.Is(err, lock.ErrNotObtained) {
				t.Fatal(err)
			}
		}
	})
	events := collectEvents(t, s.recorder, hasEvent(witness.KindEnds, "r1#1"))
	counts := map[string]int{}
	for _, event := range events {
		if c := event.Command; c != nil {
			counts[fmt.Sprintf("%s %s %s on %d of %d for %s", event.Sale, c.Verb, c.Outcome, event.Node, event.Nodes, c.Holder)]++
		}
	}
	for node := range 5 {
		for _, did := range []string{"takes", "removes"} {
			if what := fmt.Sprintf("r1#1 %s done on %d of 5 for r1", did, node+1); counts[what] != 1 {
				t.Errorf("%s: noted %d times; want once", what, counts[what])
			}
		}
		if what := fmt.Sprintf("r1#2 takes refused on %d of 5 for r1", node+1); counts[what] != 1 {
			t.Errorf("%s: noted %d times; want once", what, counts[what])
		}
	}
	if len(counts) != 3*len(s.Nodes) {
		t.Errorf("noted are %v; want two commands of the first sale on each node, and one of the second", counts)
	}
	account := witness.Examine(events)
	if len(account.Holdings) != 1 || account.Holdings[0].Holder != "r1" || account.Holdings[0].End != witness.GivenBack {
		t.Errorf("got holdings %+v, want one of r1", account.Holdings)
	}
	if len(account.NodeHoldings) != 5 {
		t.Errorf("got holdings on nodes %+v, want one on each", account.NodeHoldings)
	}
}

// Each node has a lifeline of its own, which shows the lock's holder there.
func TestTraceDrawsNodes(t *testing.T) {
	var s eventScript
	s.moment(0, witness.KindAsks, "r1#1")
	s.takesOn(0, "r1#1", 1, 2)
	s = append(s, witness.Event{Kind: witness.KindCutOff, Replica: "r1", Node: 3, Sent: at(5), Replied: at(5)})
	s.onNode(0, 6, 3, "r1#1", witness.Command{Verb: witness.Takes, Outcome: witness.Unknown})
	for i := range s {
		if c := s[i].Command; c != nil {
			c.Text, c.Reply = "SET distributedLock r1 NX", "OK"
		}
	}
	s.moment(9, witness.KindObtains, "r1#1")
	s.nodeEvent(50, witness.KindEmptied, 2)
	s.nodeEvent(60, witness.KindCrashes, 3)
	want := `     r1#1   node1  node2  node3  Redis
  1  ├───────▶1      │      │      │   SET distributedLock r1 NX → OK
     │        1      │      │      │   r1#1 takes the lock on node 1
  2  ├────────1─────▶1      │      │   SET distributedLock r1 NX → OK
     │        1      1      │      │   r1#1 takes the lock on node 2
  3  ○        1      1      │      │   r1 is cut off from node 3
  4  ├────────1──────1─────▶│      │   SET distributedLock r1 NX → ?, lost on the way
     ┃        1      1      │      │   r1#1 has no reply from node 3
  5  ┃        1      ○      │      │   node 2 restarts empty; node 2 forgot r1's lock
  6  ┃        1      │      ✗      │   node 3 goes down
`
	if got := witness.Examine(s).Trace(language.English).Sequence(); got != want {
		t.Errorf("got trace\n%s\nwant\n%s", got, want)
	}
}

// A replica's renewal is drawn on the lifeline of the sale in the critical section there; a command sent by hand on none.
func TestTraceDrawsRenewals(t *testing.T) {
	var s eventScript
	s.takes(0, "r1#1", 1000)
	for _, holder := range []string{"r1", ""} {
		s = append(s, witness.Event{
			Kind: witness.KindCommand, Replica: "r1", Sent: at(5), Replied: at(6),
			Command: &witness.Command{Verb: witness.Renews, Outcome: witness.ByOther, Holder: holder},
		})
	}
	steps := witness.Examine(s).Trace(language.English).Steps
	if len(steps) != 3 || steps[1].Actor != "r1#1" || steps[2].Actor != "" {
		t.Errorf("got steps %+v, want the last two drawn at r1#1 and at none", steps)
	}
}
