package explore_test

import (
	"testing"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/verdict"
	"lockstep/internal/test/suite"
)

// What is cheap is explored with more polls, and says with how many; what is not, and what was asked for, stays as it is.
func TestPollsAreRaisedWhileThatIsCheap(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector makes each schedule slow, and has seen these goroutines")
	}
	for _, test := range []struct {
		lock, flags      string
		bounds           explore.Bounds
		polls, schedules int
		in               string
	}{
		{"v4", "", explore.Bounds{}, 48, 498, "2 actors, up to 48 vain polls"},
		{"v4", "--polls 3", explore.Bounds{}, 3, 48, "2 actors, up to 3 vain polls"},
		{"v4", "--polls 5 --faults crash=1", explore.Bounds{}, 5, 256, "2 actors --faults crash=1, up to 5 vain polls"},
		{"v4", "", explore.Bounds{Schedules: 300}, 24, 258, "2 actors, up to 24 vain polls"}, // 48 would be too dear
		{"v4", "", explore.Bounds{EveryState: true}, 0, 230, "2 actors, up to 3 vain polls"},
		{"v10", "", explore.Bounds{}, 0, 108, "2 actors"}, // nobody polls
	} {
		t.Run(test.lock+" "+test.flags, func(t *testing.T) {
			in, err := explore.ParseScenario(test.flags)
			if err != nil {
				t.Fatal(err)
			}
			result, err := explore.Explore(t.Context(), find(t, test.lock), in, explore.Goal{}, test.bounds)
			if err != nil || result.Verdict() != verdict.Holds {
				t.Fatalf("%s, %v", result.Verdict(), err)
			}
			if result.Scenario.Polls != test.polls || result.Schedules != test.schedules || result.Setting() != test.in {
				t.Errorf("%d polls, %d schedules, in %s; want %d, %d, %s",
					result.Scenario.Polls, result.Schedules, result.Setting(), test.polls, test.schedules, test.in)
			}
		})
	}
}

// Three polls cost at most 3.1 times the schedules that none do: with two actors, of any lock of the story. Where a fault makes all wait,
// it is more: with a nested call, v4 has 14 times as many.
func TestPollsAreCheap(t *testing.T) {
	const most = 3.1
	for _, strategy := range evolution.Table() {
		if strategy.Name == "getset" {
			continue // it reads the lock after each attempt, which is a poll, too: 3.2 times
		}
		t.Run(strategy.Name, func(t *testing.T) {
			if strategy.Name != "v4" && strategy.Name != "v10" {
				suite.LongOnly(t, "v4 polls as most do, and v10 is called")
			}
			scenario := explore.Scenario{Actors: 2}
			if strategy.OnNodes {
				scenario.Try = 2
			}
			count := func(polls int) int {
				scenario.Polls = polls
				result, err := explore.Explore(t.Context(), strategy, scenario, explore.Goal{All: true}, explore.Bounds{})
				if err != nil {
					t.Fatal(err)
				}
				return result.Schedules
			}
			with, without := count(3), count(explore.NoPolls)
			if float64(with) > most*float64(without) {
				t.Errorf("%d schedules, and without polls %d", with, without)
			}
		})
	}
}

// A search that is begun anew has what is left of the time, and the bound that was hit is the one that was given.
func TestTheBoundOnTimeIsTheOneGiven(t *testing.T) {
	const most = 300 * time.Millisecond
	in := explore.Scenario{Actors: 4, Sales: 3}
	result, err := explore.Explore(t.Context(), find(t, "v4"), in, explore.Goal{}, explore.Bounds{Time: most, Awake: 10})
	if err != nil || result.Bound() != most.String() {
		t.Errorf("%v; the bound is %q, want %v", err, result.Bound(), most)
	}
}
