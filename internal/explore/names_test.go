package explore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/test/suite"
)

// Locks that treat actors otherwise because of their names, or keep names where the explorer does not see them.
func namesakes() map[string]strategy.Strategy {
	released := func(script string) strategy.Strategy {
		return polled(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (unlocker, error) {
			return deletes(c, opts, script, owner), setNX(ctx, c, opts, owner)
		})
	}
	return map[string]strategy.Strategy{
		"whose name is smaller may release the other's": released(`local h = redis.call('GET', KEYS[1])
			if h and h >= ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`),
		"whose name is greater may release the other's": released(`local h = redis.call('GET', KEYS[1])
			if h and h <= ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`),
		"the second name of two never takes the lock of the first for another's": released(`local h = redis.call('GET', KEYS[1])
			if h == ARGV[1] or h == 'distributedLock:A' then return redis.call('DEL', KEYS[1]) end return 0`),
		"names in disguise": polled(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (unlocker, error) {
			token := "token of " + owner[len(owner)-1:]
			return deletes(c, opts, compareAndDelete, token), setNX(ctx, c, opts, token)
		}),
		"no names": released(compareAndDelete),
	}
}

// That actors are interchangeable changes neither what is found nor how short it is, also where they are not.
func TestNamesMayMatter(t *testing.T) {
	for name, strategy := range namesakes() {
		for _, scenario := range []explore.Scenario{{Actors: 2}, faultsOfTwo("expiry=1"), faultsOfTwo("crash=1")} {
			t.Run(fmt.Sprint(name, " ", scenario), func(t *testing.T) {
				if scenario.Faults.Crash > 0 {
					suite.LongOnly(t, "an expiry brings more of them together")
				}
				var said []string
				for _, bounds := range []explore.Bounds{{}, {EverySymmetry: true}} {
					result, err := explore.Explore(t.Context(), strategy, scenario, explore.Goal{All: true}, bounds)
					if err != nil {
						t.Fatal(err)
					}
					found := []string{fmt.Sprint(result.Complete)}
					for _, e := range result.Found {
						found = append(found, fmt.Sprintf("%s in %d steps", e.Anomaly, e.Length))
						replayed(t, strategy, scenario, e, 1)
					}
					slices.Sort(found)
					said = append(said, fmt.Sprint(found))
				}
				if said[0] != said[1] {
					t.Errorf("with the cuts: %s; without: %s", said[0], said[1])
				}
			})
		}
	}
}
