package explore_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/strategy"
)

// asleep is the Bounds.Awake with which rounds in vain are no steps from the start.
const asleep = -1

// Where a round in vain is no step there are fewer schedules, and the answer is the same. A lock that counts its rounds is explored with
// them.
func TestWhoCountsHisRoundsIsExploredWithThem(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector makes each schedule slow, and has seen these goroutines")
	}
	for _, test := range []struct {
		name   string
		lock   strategy.Strategy
		counts bool
	}{
		{"does not count", find(t, "v4"), false},
		{"counts", locker(goesInAtTheThird), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			scenario := explore.Scenario{Actors: 2, Polls: explore.UsualPolls}
			look := func(awake int) explore.Result {
				result, err := explore.Explore(t.Context(), test.lock, scenario, explore.Goal{All: true}, explore.Bounds{Awake: awake})
				if err != nil || result.Bound != "" {
					t.Fatal(result.Bound, err)
				}
				return result
			}
			awake, stuttering := look(0), look(asleep)
			if with, without := upTo(100, awake), upTo(100, stuttering); with != without || test.counts != (len(awake.Found) > 0) {
				t.Errorf("%s; without a step for each round in vain: %s", with, without)
			}
			if fewer := stuttering.Schedules < awake.Schedules; fewer == test.counts {
				t.Errorf("%d schedules; without a step for each round in vain, %d", awake.Schedules, stuttering.Schedules)
			}
		})
	}
}

// goesInAtTheThird goes in after it has asked in vain three times.
func goesInAtTheThird(ctx context.Context, client redis.Cmdable, opts lock.Options, owner string) (*lock.Lease, error) {
	asked := 0
	return lock.Poll(ctx, opts, func() (*lock.Lease, error) {
		asked++
		err := client.SetArgs(ctx, opts.Key, owner, redis.SetArgs{Mode: "NX", TTL: opts.TTL}).Err()
		if err != nil && asked < 3 {
			return nil, lock.ErrNotObtained
		}
		return lock.NewLease(ctx, opts.Clock, 0, func(ctx context.Context) error { return client.Del(ctx, opts.Key).Err() }), nil
	})
}
