package witness_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/witness"
)

// visit adds a sale's visit to the critical section, without commands.
func (s *eventScript) visit(asks, obtains, leaves int, sale string) {
	s.moment(asks, witness.KindAsks, sale)
	s.moment(obtains, witness.KindObtains, sale)
	s.moment(leaves, witness.KindLeaves, sale)
	s.moment(leaves, witness.KindEnds, sale)
}

// renewal adds a renewal on behalf of a sale or of a replica.
func (s *eventScript) renewal(ms int, sale, holder string) {
	s.command(ms, ms+1, sale, witness.Command{Verb: witness.Renews, Outcome: witness.Done, Holder: holder})
	(*s)[len(*s)-1].Replica = witness.ReplicaOf(holder)
}

func TestWaitingFindings(t *testing.T) {
	for name, test := range map[string]struct {
		play func(*eventScript)
		want []string
	}{
		"first come, first served": {
			play: func(s *eventScript) {
				s.visit(0, 0, 10, "r1#1")
				s.visit(1, 11, 20, "r2#1")
				s.visit(2, 21, 30, "r1#2")
			},
		},
		"overtaken": {
			play: func(s *eventScript) {
				s.visit(0, 0, 10, "r1#1")
				s.visit(1, 40, 50, "r2#1")
				s.visit(2, 11, 20, "r1#2")
				s.visit(3, 21, 30, "r1#3")
				s.visit(35, 36, 39, "r3#1")
			},
			want: []string{"r2#1 was overtaken by 3 sales that asked after it"},
		},
		"overtaken, and given up": {
			play: func(s *eventScript) {
				s.moment(1, witness.KindAsks, "r2#1")
				s.visit(2, 11, 20, "r1#2")
				s.visit(3, 21, 30, "r1#3")
				s.moment(40, witness.KindEnds, "r2#1")
				s.visit(50, 51, 52, "r1#4")
			},
			want: []string{"r2#1 was overtaken by 2 sales that asked after it"},
		},
		"overtaken, and still there": {
			play: func(s *eventScript) {
				s.moment(1, witness.KindAsks, "r2#1")
				s.visit(2, 11, 20, "r1#2")
				s.visit(3, 21, 30, "r1#3")
			},
			want: []string{"r2#1 was overtaken by 2 sales that asked after it"},
		},
		"the dead are not overtaken": {
			play: func(s *eventScript) {
				s.moment(1, witness.KindAsks, "r2#1")
				s.moment(2, witness.KindDies, "r2")
				s.visit(3, 11, 20, "r1#2")
				s.visit(4, 21, 30, "r1#3")
			},
		},
		"who gives up overtakes nobody": {
			play: func(s *eventScript) {
				s.moment(1, witness.KindAsks, "r2#1")
				for ms, sale := range []string{"r1#1", "r1#2", "r1#3"} {
					s.moment(2+ms, witness.KindAsks, sale)
					s.moment(10+ms, witness.KindEnds, sale)
				}
				s.moment(20, witness.KindObtains, "r2#1")
			},
		},
		"a nested call is not a visit": {
			play: func(s *eventScript) {
				s.moment(0, witness.KindAsks, "r1#1")
				s.moment(1, witness.KindAsks, "r2#1")
				for ms := 2; ms < 10; ms += 2 {
					s.moment(ms, witness.KindObtains, "r1#1")
					s.moment(ms+1, witness.KindAsks, "r1#1")
				}
			},
		},
		"nobody is inside": {
			play: func(s *eventScript) {
				s.visit(0, 0, 500, "r1#1")
				s.visit(300, 1500, 1510, "r2#1")
			},
			want: []string{"the critical section was empty for 1.0 s after r1#1, while r2#1 waited"},
		},
		"nobody is inside, and nobody waits": {
			play: func(s *eventScript) {
				s.visit(0, 0, 500, "r1#1")
				s.visit(1450, 1500, 1510, "r2#1")
			},
		},
		"somebody else is inside": {
			play: func(s *eventScript) {
				s.visit(0, 0, 1500, "r1#1")
				s.visit(1, 1, 10, "r1#2")
				s.visit(300, 1400, 1510, "r2#1")
			},
		},
		"renewed while it is needed": {
			play: func(s *eventScript) {
				s.visit(0, 0, 100, "r1#1")
				s.renewal(50, "r1#1", "r1#1")
				s.visit(90, 100, 300, "r1#2")
				s.renewal(200, "", "r1")
			},
		},
		"renewed for a sale that has ended": {
			play: func(s *eventScript) {
				s.visit(0, 0, 100, "r1#1")
				s.visit(90, 100, 300, "r1#2")
				s.renewal(150, "r1#1", "r1#1")
				s.renewal(250, "r1#1", "r1#1")
			},
			want: []string{"r1#1's lock was renewed after r1#1 had ended: 2 times"},
		},
		"renewed for a replica whose sales have ended": {
			play: func(s *eventScript) {
				s.visit(0, 0, 100, "r1#1")
				s.visit(0, 0, 300, "r2#1")
				s.renewal(150, "", "r1")
				s.renewal(160, "", "r2")
			},
			want: []string{"r1's lock was renewed after r1#1 had ended: 1 times"},
		},
		"renewed by a replica whose sales began before the record": {
			play: func(s *eventScript) { s.renewal(150, "", "r1") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			var s eventScript
			test.play(&s)
			var got []string
			for _, f := range witness.Examine(s).FindingsOf(witness.Overtaken, witness.LockIdle, witness.RenewedAfterEnd) {
				got = append(got, f.Sentence(language.English))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got findings\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
			}
		})
	}
}

// A command with the owner value of an ended sale is attributed to that sale even after the recorder has dropped it.
func TestCommandAfterEndBelongsToSale(t *testing.T) {
	s := openRecorded(t)
	ctx := s.recorder.Follow(t.Context(), "run", lock.Owner("a"))
	s.recorder.Observe(ctx, service.SaleEvent{Moment: service.Asks})
	s.recorder.Observe(ctx, service.SaleEvent{Moment: service.Ends})
	if err := s.Lock.Set(t.Context(), lock.Key, lock.Owner("a"), 0).Err(); err != nil {
		t.Fatal(err)
	}
	events := collectEvents(t, s.recorder, func(events []witness.Event) bool { return len(events) == 3 })
	last := witness.Examine(events).Events[2]
	if c := last.Command; c == nil || last.Sale != "r1#1" || c.Holder != "r1#1" || c.Text != fmt.Sprintf("SET %s r1#1", lock.Key) {
		t.Errorf("got event %+v with command %+v, want r1#1's SET", last, last.Command)
	}
}
