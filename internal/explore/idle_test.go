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

// The time for which a waiter has waited for a free lock is part of the state. Otherwise two schedules may lead to the same state, although
// only the one with the longer wait shows that the wait is too long.
func TestIdleTimeIsPartOfState(t *testing.T) {
	for _, test := range []struct {
		holding time.Duration // time after which Unlock leaves the lock to its expiry
		found   string
	}{
		{holding: 7 * time.Second, found: "[idle in 18 steps]"},
		{holding: 8 * time.Second, found: "[]"},
	} {
		t.Run(test.holding.String(), func(t *testing.T) {
			goal := explore.Goal{Anomalies: []explore.Anomaly{anomaly.Idle}}
			result, err := explore.Explore(t.Context(), locker(leftToExpiryAfter(test.holding)), twoActors("pause=1"), goal, explore.Bounds{})
			if err != nil || result.Bound() != "" || foundWithin(100, result) != test.found {
				t.Errorf("got %s, bound %q, error %v; want %s", foundWithin(100, result), result.Bound(), err, test.found)
			}
		})
	}
}

// leftToExpiryAfter returns a lock whose Unlock leaves it to its expiry once it was held for so long. Waiters ask after two, four and six
// seconds, and then every second. Before the eighth second, Unlock needs a command to leave the lock, so that in the shorter of two
// schedules the others wait for two seconds, and not for three.
func leftToExpiryAfter(holding time.Duration) func(context.Context, redis.Cmdable, lock.Options, string) (*lock.Lease, error) {
	return func(ctx context.Context, client redis.Cmdable, opts lock.Options, owner string) (*lock.Lease, error) {
		attempts := 0
		pauses := func() time.Duration {
			if attempts++; attempts <= 3 {
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
				held := opts.Clock.Now().Sub(began)
				switch {
				case held < holding:
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
