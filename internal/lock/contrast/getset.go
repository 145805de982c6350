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

// getSet is a lock whose value is the time at which it expires, by the clock of its holder.
type getSet struct {
	client redis.Cmdable
	opts   lock.Options
}

// NewGetSet returns a lock whose value is its expiry.
//
// Adds: an expiry that is the value: a client that finds it in the past takes the lock over.
// Costs: 2 commands per sale, plus two per poll.
// Still broken: it needs equal clocks; no owner, so anybody can release.
//
// A loser's GETSET still moves the winner's expiry. Source: "seven ways to lock", the second.
func NewGetSet(client redis.Cmdable, opts lock.Options) *Detour {
	return &Detour{client, opts, getSet{client, opts}.take}
}

// take tries once to take the lock.
func (g getSet) take(ctx context.Context, _ string) (bool, error) {
	now := g.opts.Clock.Now()
	expiry := now.Add(g.opts.TTL).UnixMilli()
	got, err := g.client.SetNX(ctx, g.opts.Key, expiry, 0).Result()
	if err != nil || got {
		return got, err
	}
	return g.takeOver(ctx, now, expiry)
}

// takeOver takes a lock that has expired by this process's clock. If several try, only the first gets the old expiry as its reply.
func (g getSet) takeOver(ctx context.Context, now time.Time, expiry int64) (bool, error) {
	seen, err := g.client.Get(ctx, g.opts.Key).Result()
	if errors.Is(err, redis.Nil) || rediserr.IsWrongType(err) {
		return false, nil // released just now, or held by another kind of lock
	}
	if err != nil {
		return false, err
	}
	if expires, err := strconv.ParseInt(seen, 10, 64); err != nil || now.UnixMilli() < expires {
		return false, nil //nolint:nilerr // A value that is not a time belongs to another kind of lock.
	}
	old, err := g.client.GetSet(ctx, g.opts.Key, expiry).Result()
	if errors.Is(err, redis.Nil) {
		return true, nil // released meanwhile, so that GETSET has taken it
	}
	return old == seen, err // If another won, its expiry has been moved now.
}
