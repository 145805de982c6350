package witness_test

import (
	"fmt"
	"slices"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/witness"
)

// momentTexts returns the moments of a story as texts, each with its causes.
func momentTexts(moments []witness.StoryMoment) (all []string) {
	for _, moment := range moments {
		text := fmt.Sprintf("%d %s", moment.At.UnixMilli(), moment.Sentence(language.English))
		if moment.Causes != nil {
			text += fmt.Sprint(" ", moment.Causes)
		}
		all = append(all, text)
	}
	return all
}

func TestStoryTellsCauses(t *testing.T) {
	for name, test := range map[string]struct {
		play func(*eventScript)
		want []string
	}{
		"nothing went wrong": {
			play: func(s *eventScript) {
				s.takes(0, "r1#1", 3000)
				s.removes(10, "r1#1", witness.Done, true)
			},
		},
		"a foreign delete": {
			play: foreignDelete,
			want: []string{
				"3000 r1#1's lock expired after 3.0 s, while r1#1 was still at work",
				"3010 r2#1 entered while r1#1 was at work [1]",
				"5011 r1#1 removed r2#1's lock [2]",
				"5022 r3#1 entered while r2#1 was at work [3]",
				"7001 r2#1 wrote stock 199: it had read 200 before r1#1 wrote, so r1#1's update is lost [2]",
			},
		},
		"no lock": {
			play: func(s *eventScript) {
				for i, sale := range []string{"r1#1", "r2#1", "r3#1"} {
					s.moment(i, witness.KindAsks, sale)
					s.moment(i, witness.KindObtains, sale)
					s.stock(10+i, sale, witness.Reads, 200)
				}
				for i, sale := range []string{"r2#1", "r1#1", "r3#1"} {
					s.stock(30+i, sale, witness.Writes, 199)
					s.moment(35+i, witness.KindLeaves, sale)
					s.moment(36+i, witness.KindEnds, sale)
				}
			},
			want: []string{
				"1 r2#1 entered while r1#1 was at work",
				"32 r1#1 wrote stock 199: it had read 200 before r2#1 wrote, so r2#1's update is lost [1]",
			},
		},
		"a replica that was stopped": {
			play: func(s *eventScript) {
				s.takes(0, "r1#1", 1000)
				s.replicaEvent(500, witness.KindStops, "r1")
				s.takes(1001, "r2#1", 1000)
				s.removes(1100, "r2#1", witness.Done, true)
				s.replicaEvent(1500, witness.KindResumes, "r1")
				s.removes(1600, "r1#1", witness.ByNobody, false)
			},
			want: []string{
				"500 r1#1's replica was stopped",
				"1000 r1#1's lock expired after 1.0 s, while r1#1 was still at work [1]",
				"1003 r2#1 entered while r1#1 was at work [2]",
			},
		},
		"a lock that never expires": {
			play: func(s *eventScript) {
				s.takes(0, "r1#1", 0)
				s.replicaEvent(500, witness.KindDies, "r1")
			},
			want: []string{
				"500 r1#1's replica died", "500 r1#1 is gone, and its lock stays: it never expires, and no sale removes it [1]",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			events := eventScript{}
			test.play(&events)
			all := witness.Examine(events)
			if got := momentTexts(all.Story()); !slices.Equal(got, test.want) {
				t.Errorf("got story\n%q, want\n%q", got, test.want)
			}
			bounded := witness.NewAccount(witness.Limits{MaxEvents: 100, MaxPerKind: 5, MaxReplyDelay: 1})
			for _, event := range witness.InOrder(events) {
				bounded.Record(event)
			}
			if got := momentTexts(bounded.Story()); !slices.Equal(got, test.want) {
				t.Errorf("recorded one by one: got story\n%q, want\n%q", got, test.want)
			}
		})
	}
}

// foreignDelete is the foreign release of v2, with the sale that enters because of it.
func foreignDelete(s *eventScript) {
	s.takes(0, "r1#1", 3000)
	s.stock(10, "r1#1", witness.Reads, 200)
	s.takes(3008, "r2#1", 3000)
	s.stock(3012, "r2#1", witness.Reads, 200)
	s.stock(5000, "r1#1", witness.Writes, 199)
	s.removes(5010, "r1#1", witness.Done, true)
	s.takes(5020, "r3#1", 3000)
	s.stock(5030, "r3#1", witness.Reads, 199)
	s.stock(7000, "r2#1", witness.Writes, 199)
	s.removes(7010, "r2#1", witness.Done, true)
}

// A story and its sales stay as they were, although the events are dropped.
func TestStoryOutlivesItsEvents(t *testing.T) {
	const sales = 3000
	a := recordedAccount(witness.Limits{MaxEvents: 100, MaxPerKind: 5}, func(s *eventScript) {
		foreignDelete(s)
		for i := range sales {
			name := fmt.Sprintf("r4#%d", i+1)
			s.takes(9000+10*i, name, 3000)
			s.removes(9005+10*i, name, witness.Done, true)
		}
	})
	if got := momentTexts(a.Story()); len(got) < 5 || got[1] != "3010 r2#1 entered while r1#1 was at work [1]" {
		t.Errorf("after %d more sales: got story %q, want the one of the foreign release", sales, got)
	}
	for _, name := range []string{"r1#1", "r2#1"} {
		if a.Sale(name) == nil {
			t.Errorf("after %d more sales, %s of the story is forgotten", sales, name)
		}
	}
	if len(a.Sales) > 1000 {
		t.Errorf("got %d sales, want at most 1000", len(a.Sales))
	}
}
