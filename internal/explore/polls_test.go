package explore_test

import (
	"testing"

	"lockstep/internal/explore"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/test/suite"
)

// Three polls cost at most 3.1 times the schedules that none do: with two actors, of any lock of the story. Where a fault makes all wait,
// it is more: with a nested call, v4 has 14 times as many.
func TestPollsAreCheap(t *testing.T) {
	const most = 3.1
	for _, strategy := range evolution.Table() {
		if strategy.Name == "getset" {
			continue // it reads the lock after each attempt, which is a poll, too: 3.2 times
		}
		t.Run(strategy.Name, func(t *testing.T) {
			t.Parallel()
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
