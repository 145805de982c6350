package explore_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/strategy"
)

// mine is a lock of your own.
type mine struct {
	client redis.Cmdable
	opts   lock.Options
}

func (l mine) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return lock.Poll(ctx, l.opts, func() (*lock.Lease, error) { return l.TryLock(ctx, owner) })
}

func (l mine) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	got, err := l.client.SetNX(ctx, l.opts.Key, owner, l.opts.TTL).Result()
	switch {
	case err != nil:
		return nil, rediserr.Classify(ctx, "SET NX", err)
	case !got:
		return nil, lock.ErrNotObtained
	}
	return lock.NewLease(ctx, l.opts.Clock, 0, func(ctx context.Context) error { return l.unlock(ctx, owner) }), nil
}

func (l mine) unlock(ctx context.Context, owner string) error {
	holder, err := l.client.Get(ctx, l.opts.Key).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return lock.ErrExpired
	case err != nil:
		return rediserr.Classify(ctx, "GET", err)
	case holder != owner:
		return lock.ErrNotOwner
	}
	if err := l.client.Del(ctx, l.opts.Key).Err(); err != nil {
		return rediserr.Classify(ctx, "DEL", err)
	}
	return nil
}

// A lock of your own, explored.
func Example_yourOwnLock() {
	strategy := strategy.Strategy{
		Name: "mine",
		New:  func(p strategy.Parts) lock.Locker { return mine{p.Client, p.Options} },
	}
	for _, faults := range []string{"", "crash=1", "expiry=1"} {
		budgets, err := explore.ParseFaults(faults)
		if err != nil {
			fmt.Println(err)
			return
		}
		result, err := explore.Explore(context.Background(), strategy, explore.Scenario{Actors: 2, Faults: budgets},
			explore.Goal{Anomalies: []explore.Anomaly{anomaly.ForeignRelease}}, explore.Bounds{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%q: %s\n", faults, result.Verdict())
		for _, found := range result.Found {
			fmt.Println(found.Verdict+":", found.Schedule())
		}
	}
	// Output:
	// "": holds
	// "crash=1": holds
	// "expiry=1": broken
	// A removes B's lock: A:SET A:GET A:write A:GET expiry B:SET A:DEL
}
