package explore_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/strategy"
)

// asleep is the Bounds.Awake with which no schedule has more than one vain poll.
const asleep = -1

// Where vain polls cost too many schedules there is one at most, and the result says so. A lock that counts further is then not found out.
func TestVainPollsThatAreDearAreFew(t *testing.T) {
	v4, counts := find(t, "v4"), locker(goesInAtTheFourth)
	for _, test := range []struct {
		lock   strategy.Strategy
		awake  int
		within string
		found  string
	}{
		{v4, 0, "2 actors, up to 3 vain polls", "[]"},
		{v4, 10, "2 actors, up to 1 vain poll", "[]"},
		{v4, asleep, "2 actors, up to 1 vain poll", "[]"},
		{counts, 0, "2 actors --polls 3", "[two-holders in 5 steps]"},
		{counts, asleep, "2 actors, up to 1 vain poll", "[]"},
	} {
		in := explore.Scenario{Actors: 2, Polls: explore.UsualPolls}
		goal := explore.Goal{Anomalies: []explore.Anomaly{anomaly.TwoHolders}}
		result, err := explore.Explore(t.Context(), test.lock, in, goal, explore.Bounds{Awake: test.awake, Workers: 1})
		if err != nil || result.Setting() != test.within || upTo(100, result) != test.found {
			t.Errorf("%s, %d: %v; %s: %s; want %s: %s",
				test.lock.Name, test.awake, err, result.Setting(), upTo(100, result), test.within, test.found)
		}
	}
}

// goesInAtTheFourth goes in at its fourth attempt.
func goesInAtTheFourth(ctx context.Context, client redis.Cmdable, opts lock.Options, owner string) (*lock.Lease, error) {
	asked := 0
	return lock.Poll(ctx, opts, func() (*lock.Lease, error) {
		asked++
		err := client.SetArgs(ctx, opts.Key, owner, redis.SetArgs{Mode: "NX", TTL: opts.TTL}).Err()
		if err != nil && asked < 4 {
			return nil, lock.ErrNotObtained
		}
		return lock.NewLease(ctx, opts.Clock, 0, func(ctx context.Context) error { return client.Del(ctx, opts.Key).Err() }), nil
	})
}
