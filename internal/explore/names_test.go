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

// From three actors on, those that start alike are taken for the same. That finds the same as to take nothing for the same, as our locks
// are blind to names.
func TestOurLocksAreBlindToNames(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector makes each schedule slow, and has seen these goroutines")
	}
	schedules, scenarios := 250, []explore.Scenario{{Actors: 3}, of(3, 0, "expiry=1")}
	if suite.Long {
		schedules, scenarios = 1500, append(scenarios, of(3, 0, "crash=1"), explore.Scenario{Actors: 3, Nested: 1})
	}
	for _, strategy := range evolution.Table() {
		if strategy.OnNodes {
			continue // TestNodesAreAlike
		}
		for _, scenario := range scenarios {
			t.Run(fmt.Sprint(strategy.Name, " ", scenario), func(t *testing.T) {
				if strategy.Name != "v4" {
					suite.LongOnly(t, "v4 stands for all")
				}
				same(t, strategy, scenario, explore.Bounds{Schedules: schedules}, explore.Bounds{EverySymmetry: true, Schedules: schedules})
			})
		}
	}
}

// Of two, both orders are explored: a lock that compares their names is found out, whichever of them it favours.
func TestALockThatComparesNamesIsFoundOut(t *testing.T) {
	for name, script := range map[string]string{
		"whose name is smaller may release the other's": `local h = redis.call('GET', KEYS[1])
			if h and h >= ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`,
		"whose name is greater may release the other's": `local h = redis.call('GET', KEYS[1])
			if h and h <= ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`,
	} {
		t.Run(name, func(t *testing.T) {
			s := polled(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (unlocker, error) {
				return deletes(c, opts, script, owner), setNX(ctx, c, opts, owner)
			})
			in, goal := faultsOfTwo("expiry=1"), explore.Goal{Anomalies: []explore.Anomaly{anomaly.ForeignRelease}}
			result, err := explore.Explore(t.Context(), s, in, goal, explore.Bounds{})
			if err != nil || result.Verdict() != verdict.Broken || result.Found[0].Length() != 6 {
				t.Fatalf("%v; %s: %+v; want it broken in 6 steps", err, result.Verdict(), result.Found)
			}
			replayed(t, s, in, result.Found[0], 1)
		})
	}
}
