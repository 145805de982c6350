package explore_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/lock"
)

// How long a waiter has waited for a lock that nobody has is part of the state: of two schedules that are otherwise in one, the longer one
// alone may show that this is too long.
func TestIdleIsToldOfTheOneThatWaitedLonger(t *testing.T) {
	for _, test := range []struct {
		after time.Duration
		found string
	}{
		{7 * time.Second, "[idle in 18 steps]"},
		{8 * time.Second, "[]"},
	} {
		goal := explore.Goal{Anomalies: []explore.Anomaly{anomaly.Idle}}
		result, err := explore.Explore(t.Context(), locker(keptFor(test.after)), faultsOfTwo("pause=1"), goal, explore.Bounds{})
		if err != nil || result.Bound() != "" || upTo(100, result) != test.found {
			t.Errorf("kept after %v: %v; %s %s; want %s", test.after, err, upTo(100, result), result.Bound(), test.found)
		}
	}
}

// keptFor leaves a lock to its expiry that was held for so long; others ask after two, four and six seconds, and then each second.
// Unlock takes a command to leave it before the eighth second: so the shorter schedule is that in which the others wait for two seconds,
// and not for three.
func keptFor(long time.Duration) func(context.Context, redis.Cmdable, lock.Options, string) (*lock.Lease, error) {
	return func(ctx context.Context, client redis.Cmdable, opts lock.Options, owner string) (*lock.Lease, error) {
		asked := 0
		pauses := func() time.Duration {
			if asked++; asked <= 3 {
				return 2 * time.Second
			}
			return time.Second
		}
		return lock.PollAt(ctx, opts, pauses, func() (*lock.Lease, error) {
			if client.SetArgs(ctx, opts.Key, owner, redis.SetArgs{Mode: "NX", TTL: opts.TTL}).Err() != nil {
				return nil, lock.ErrNotObtained
			}
			began := opts.Clock.Now()
			return lock.NewLease(ctx, opts.Clock, 0, func(ctx context.Context) error {
				switch held := opts.Clock.Now().Sub(began); {
				case held < long:
					return client.Del(ctx, opts.Key).Err()
				case held < 8*time.Second:
					return client.Get(ctx, opts.Key).Err()
				default:
					return nil
				}
			}), nil
		})
	}
}
