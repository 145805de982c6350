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

// asks, obtains and leaves a sale: no command says more about who waited.
func (s *story) visit(asks, obtains, leaves int, sale string) {
	s.moment(asks, witness.KindAsks, sale)
	s.moment(obtains, witness.KindObtains, sale)
	s.moment(leaves, witness.KindLeaves, sale)
	s.moment(leaves, witness.KindEnds, sale)
}

// renewal adds one in the name of a sale or of a replica.
func (s *story) renewal(ms int, sale, holder string) {
	s.command(ms, ms+1, sale, witness.Command{Verb: witness.Renews, Outcome: witness.Done, Holder: holder})
	(*s)[len(*s)-1].Replica = witness.ReplicaOf(holder)
}

func TestWhoWaits(t *testing.T) {
	for name, test := range map[string]struct {
		tell func(*story)
		want []string
	}{
		"first come, first served": {
			tell: func(s *story) {
				s.visit(0, 0, 10, "r1#1")
				s.visit(1, 11, 20, "r2#1")
				s.visit(2, 21, 30, "r1#2")
			},
		},
		"overtaken": {
			tell: func(s *story) {
				s.visit(0, 0, 10, "r1#1")
				s.visit(1, 40, 50, "r2#1")
				s.visit(2, 11, 20, "r1#2")
				s.visit(3, 21, 30, "r1#3")
				s.visit(35, 36, 39, "r3#1")
			},
			want: []string{"r2#1 was overtaken by 3 sales that asked after it"},
		},
		"overtaken, and given up": {
			tell: func(s *story) {
				s.moment(1, witness.KindAsks, "r2#1")
				s.visit(2, 11, 20, "r1#2")
				s.visit(3, 21, 30, "r1#3")
				s.moment(40, witness.KindEnds, "r2#1")
				s.visit(50, 51, 52, "r1#4")
			},
			want: []string{"r2#1 was overtaken by 2 sales that asked after it"},
		},
		"overtaken, and still there": {
			tell: func(s *story) {
				s.moment(1, witness.KindAsks, "r2#1")
				s.visit(2, 11, 20, "r1#2")
				s.visit(3, 21, 30, "r1#3")
			},
			want: []string{"r2#1 was overtaken by 2 sales that asked after it"},
		},
		"the dead are not overtaken": {
			tell: func(s *story) {
				s.moment(1, witness.KindAsks, "r2#1")
				s.moment(2, witness.KindDies, "r2")
				s.visit(3, 11, 20, "r1#2")
				s.visit(4, 21, 30, "r1#3")
			},
		},
		"who gives up overtakes nobody": {
			tell: func(s *story) {
				s.moment(1, witness.KindAsks, "r2#1")
				for ms, sale := range []string{"r1#1", "r1#2", "r1#3"} {
					s.moment(2+ms, witness.KindAsks, sale)
					s.moment(10+ms, witness.KindEnds, sale)
				}
				s.moment(20, witness.KindObtains, "r2#1")
			},
		},
		"a nested call is no visit": {
			tell: func(s *story) {
				s.moment(0, witness.KindAsks, "r1#1")
				s.moment(1, witness.KindAsks, "r2#1")
				for ms := 2; ms < 10; ms += 2 {
					s.moment(ms, witness.KindObtains, "r1#1")
					s.moment(ms+1, witness.KindAsks, "r1#1")
				}
			},
		},
		"nobody is inside": {
			tell: func(s *story) {
				s.visit(0, 0, 500, "r1#1")
				s.visit(300, 1500, 1510, "r2#1")
			},
			want: []string{"the critical section was empty for 1.0 s after r1#1, while r2#1 waited"},
		},
		"nobody is inside, and nobody waits": {
			tell: func(s *story) {
				s.visit(0, 0, 500, "r1#1")
				s.visit(1450, 1500, 1510, "r2#1")
			},
		},
		"somebody else is inside": {
			tell: func(s *story) {
				s.visit(0, 0, 1500, "r1#1")
				s.visit(1, 1, 10, "r1#2")
				s.visit(300, 1400, 1510, "r2#1")
			},
		},
		"renewed while it is needed": {
			tell: func(s *story) {
				s.visit(0, 0, 100, "r1#1")
				s.renewal(50, "r1#1", "r1#1")
				s.visit(90, 100, 300, "r1#2")
				s.renewal(200, "", "r1")
			},
		},
		"renewed for a sale that has ended": {
			tell: func(s *story) {
				s.visit(0, 0, 100, "r1#1")
				s.visit(90, 100, 300, "r1#2")
				s.renewal(150, "r1#1", "r1#1")
				s.renewal(250, "r1#1", "r1#1")
			},
			want: []string{"r1#1's lock was renewed after r1#1 had ended: 2 times"},
		},
		"renewed for a replica whose sales have ended": {
			tell: func(s *story) {
				s.visit(0, 0, 100, "r1#1")
				s.visit(0, 0, 300, "r2#1")
				s.renewal(150, "", "r1")
				s.renewal(160, "", "r2")
			},
			want: []string{"r1's lock was renewed after r1#1 had ended: 1 times"},
		},
		"renewed by a replica whose sales began before the record": {
			tell: func(s *story) { s.renewal(150, "", "r1") },
		},
	} {
		var s story
		test.tell(&s)
		var got []string
		for _, f := range witness.Examine(s).FindingsOf(witness.Overtaken, witness.LockIdle, witness.RenewedAfterEnd) {
			got = append(got, f.Sentence(language.English))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: it says\n  %s\nwant\n  %s", name, strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
		}
	}
}

// A command in the name of a sale that has ended is the sale's, though the recorder has forgotten it.
func TestCommandOfASaleThatHasEnded(t *testing.T) {
	s := open(t)
	ctx := s.recorder.Follow(t.Context(), "run", lock.Owner("a"))
	s.recorder.Observe(ctx, service.Seen{Moment: service.Asks})
	s.recorder.Observe(ctx, service.Seen{Moment: service.Ends})
	if err := s.Lock.Set(t.Context(), lock.Key, lock.Owner("a"), 0).Err(); err != nil {
		t.Fatal(err)
	}
	events := watch(t, s.recorder, func(events []witness.Event) bool { return len(events) == 3 })
	last := witness.Examine(events).Events[2]
	if c := last.Command; c == nil || last.Sale != "r1#1" || c.Holder != "r1#1" || c.Text != fmt.Sprintf("SET %s r1#1", lock.Key) {
		t.Errorf("%+v, %+v; want r1#1's SET", last, last.Command)
	}
}
