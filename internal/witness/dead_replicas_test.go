package witness_test

import (
	"slices"
	"strings"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/witness"
)

// visitInTurn adds a sale's visit to the critical section under a lock that its replica holds and then hands to the head of the queue.
func (s *eventScript) visitInTurn(asks, obtains, leaves int, sale string) {
	replica := witness.ReplicaOf(sale)
	s.queues(asks, sale)
	s.command(obtains, obtains, sale, witness.Command{Verb: witness.Takes, Outcome: witness.Done, Holder: replica, TTL: millis(3000)})
	s.moment(obtains, witness.KindObtains, sale)
	s.moment(leaves, witness.KindLeaves, sale)
	s.command(leaves, leaves, sale, witness.Command{Verb: witness.Removes, Outcome: witness.Passed, Holder: replica})
	s.moment(leaves, witness.KindEnds, sale)
}

// queues adds that a sale asks, and that its replica enters the queue.
func (s *eventScript) queues(ms int, sale string) {
	s.moment(ms, witness.KindAsks, sale)
	s.command(ms, ms, sale, witness.Command{Verb: witness.Takes, Outcome: witness.Refused, Holder: witness.ReplicaOf(sale)})
}

func TestDeadReplicaFindings(t *testing.T) {
	for name, test := range map[string]struct {
		play func(*eventScript)
		want []string
	}{
		"the first in the queue dies": {
			play: func(s *eventScript) {
				s.visitInTurn(0, 0, 2000, "r1#1")
				s.queues(100, "r2#1")
				s.moment(200, witness.KindAsks, "r2#2")
				s.moment(1500, witness.KindDies, "r2")
				s.visitInTurn(300, 4500, 5000, "r3#1")
				s.visitInTurn(400, 8000, 8100, "r3#2")
			},
			want: []string{"r2#1 died in the queue and was passed over: nobody used its turn for 2.5 s, then r3#1 entered"},
		},
		"it dies when it has been told that it has the lock": {
			play: func(s *eventScript) {
				s.visitInTurn(0, 0, 2000, "r1#1")
				s.queues(100, "r2#1")
				s.moment(2001, witness.KindDies, "r2")
				s.moment(2500, witness.KindAsks, "r2#1") // sale of the replica's next process
				s.visitInTurn(300, 4500, 5000, "r3#1")
			},
			want: []string{"r2#1 died in the queue and was passed over: nobody used its turn for 2.5 s, then r3#1 entered"},
		},
		"places are those of replicas, not of sales": {
			play: func(s *eventScript) {
				s.moment(10, witness.KindAsks, "r3#1")
				s.moment(20, witness.KindAsks, "r2#1")
				s.queues(30, "r2#1")
				s.visitInTurn(40, 40, 2000, "r1#1")
				s.moment(2100, witness.KindDies, "r2")
				s.command(1900, 1900, "r3#1", witness.Command{Verb: witness.Takes, Outcome: witness.Refused, Holder: "r3"})
				s.moment(4500, witness.KindObtains, "r3#1")
			},
			want: []string{"r2#1 died in the queue and was passed over: nobody used its turn for 2.5 s, then r3#1 entered"},
		},
		"its place is gone before its turn comes": {
			play: func(s *eventScript) {
				s.visitInTurn(0, 0, 9000, "r1#1")
				s.queues(100, "r2#1")
				s.moment(1500, witness.KindDies, "r2")
				s.visitInTurn(300, 9010, 9500, "r3#1")
			},
			want: []string{"r2#1 died in the queue, and its place expired before its turn: r3#1 entered at once"},
		},
		"the last in the queue dies": {
			play: func(s *eventScript) {
				s.visitInTurn(0, 0, 2000, "r1#1")
				s.queues(400, "r2#1")
				s.moment(1500, witness.KindDies, "r2")
				s.visitInTurn(300, 2500, 3000, "r3#1")
			},
		},
		"one that waits without a queue dies": {
			play: func(s *eventScript) {
				s.takes(0, "r1#1", 10_000)
				s.queues(100, "r2#1")
				s.moment(1500, witness.KindDies, "r2")
				s.removes(2000, "r1#1", witness.Done, false)
				s.visit(300, 2500, 2600, "r3#1")
			},
		},
		"a holder dies": {
			play: func(s *eventScript) {
				s.moment(0, witness.KindAsks, "r2#1")
				s.command(0, 0, "r2#1", witness.Command{Verb: witness.Takes, Outcome: witness.Done, Holder: "r2", TTL: millis(3000)})
				s.moment(1, witness.KindObtains, "r2#1")
				s.moment(100, witness.KindAsks, "r2#2")
				s.moment(1000, witness.KindDies, "r2")
				s.visitInTurn(300, 3500, 4000, "r3#1")
			},
			want: []string{"r2#1 died with the lock, and r3#1 waited 2.5 s more"},
		},
		"nobody waits for the lock of the dead": {
			play: func(s *eventScript) {
				s.takes(0, "r2#1", 3000)
				s.moment(1000, witness.KindDies, "r2")
				s.visit(9000, 9001, 9100, "r3#1")
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var s eventScript
			test.play(&s)
			var got []string
			for _, f := range witness.Examine(s).FindingsOf(witness.DiedInQueue, witness.QueuePlaceExpired, witness.DiedHolding) {
				got = append(got, f.Sentence(language.English))
				if chinese := f.Sentence(language.Chinese); !strings.Contains(chinese, "崩溃") {
					t.Errorf("in Chinese it says %q", chinese)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got findings\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
			}
		})
	}
}
