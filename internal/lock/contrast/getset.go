package contrast

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
)

// getSet is the lock whose value is the time at which it expires, by the clock of whoever took it.
type getSet struct {
	client redis.Cmdable
	opts   lock.Options
}

// NewGetSet makes the lock whose value is its expiry.
//
// Adds: an expiry that is the value: a client that finds it in the past takes the lock over.
// Costs: 2 commands per sale, plus two per poll.
// Still broken: it needs equal clocks; no owner, so anybody can release.
//
// A loser's GETSET still moves the winner's expiry. Source: "seven ways to lock", the second.
func NewGetSet(client redis.Cmdable, opts lock.Options) *Detour {
	return &Detour{client, opts, getSet{client, opts}.take}
}

func (g getSet) take(ctx context.Context, _ string) (bool, error) {
	now := g.opts.Clock.Now()
	expiry := now.Add(g.opts.TTL).UnixMilli()
	got, err := g.client.SetNX(ctx, g.opts.Key, expiry, 0).Result()
	if err != nil || got {
		return got, err
	}
	return g.takeOver(ctx, now, expiry)
}

// takeOver takes a lock that has expired by our clock. Of several who try, the first is given the old expiry.
func (g getSet) takeOver(ctx context.Context, now time.Time, expiry int64) (bool, error) {
	seen, err := g.client.Get(ctx, g.opts.Key).Result()
	if errors.Is(err, redis.Nil) || rediserr.IsWrongType(err) {
		return false, nil // it was just given back, or is held in another way
	}
	if err != nil {
		return false, err
	}
	if expires, err := strconv.ParseInt(seen, 10, 64); err != nil || now.UnixMilli() < expires {
		return false, nil //nolint:nilerr // what is no time is held in another way
	}
	old, err := g.client.GetSet(ctx, g.opts.Key, expiry).Result()
	if errors.Is(err, redis.Nil) {
		return true, nil // it was given back meanwhile, so now it is ours
	}
	return old == seen, err // or the winner's expiry, which is now moved
}
