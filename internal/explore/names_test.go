package explore_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/anomaly"
	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/test/suite"
	"lockstep/internal/verdict"
)

// With three or more actors, the search treats those that start alike as interchangeable. It finds the same as without that symmetry
// reduction, because our locks do not depend on the names of their actors.
func TestLocksDoNotDependOnActorNames(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long under the race detector, and has no more goroutines than the other tests")
	}
	schedules, scenarios := 250, []explore.Scenario{{Actors: 3}, actorsIn(3, 0, "expiry=1")}
	if suite.Long {
		schedules, scenarios = 1500, append(scenarios, actorsIn(3, 0, "crash=1"), explore.Scenario{Actors: 3, Nested: 1})
	}
	for _, strategy := range evolution.Table() {
		if strategy.OnNodes {
			continue // see TestNodeSymmetryDoesNotChangeResults
		}
		for _, scenario := range scenarios {
			t.Run(fmt.Sprint(strategy.Name, " ", scenario), func(t *testing.T) {
				if strategy.Name != "v4" {
					suite.LongOnly(t, "v4 stands for all")
				}
				checkSameResults(t, strategy, scenario, explore.Bounds{Schedules: schedules}, explore.Bounds{EverySymmetry: true, Schedules: schedules})
			})
		}
	}
}

// With two actors both orders are explored, so a lock that compares the actors' names is broken, whichever name it favors.
func TestLockThatComparesNamesIsBroken(t *testing.T) {
	for name, script := range map[string]string{
		"the smaller name may release the other's lock": `local h = redis.call('GET', KEYS[1])
			if h and h >= ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`,
		"the greater name may release the other's lock": `local h = redis.call('GET', KEYS[1])
			if h and h <= ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`,
	} {
		t.Run(name, func(t *testing.T) {
			s := polled(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (unlocker, error) {
				return deletes(c, opts, script, owner), setNX(ctx, c, opts, owner)
			})
			in, goal := twoActors("expiry=1"), explore.Goal{Anomalies: []explore.Anomaly{anomaly.ForeignRelease}}
			result, err := explore.Explore(t.Context(), s, in, goal, explore.Bounds{})
			if err != nil || result.Verdict() != verdict.Broken || result.Found[0].Length() != 6 {
				t.Fatalf("got error %v, %s: %+v; want it broken in 6 steps", err, result.Verdict(), result.Found)
			}
			checkReplays(t, s, in, result.Found[0], 1)
		})
	}
}
