package contrast

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// GetSet is the lock whose value is the time at which it expires, by the clock of whoever took it.
//
// Adds: an expiry that Redis need not know of: who finds it past takes the lock over by GETSET ("seven ways to lock", the second).
// Costs: 3 commands more for who takes it over, a GET more a poll.
// Still broken: it needs equal clocks; a loser's GETSET still moves the winner's expiry; no owner, so anybody can release.
type GetSet struct {
	client redis.Cmdable
	opts   lock.Options
}

// NewGetSet makes the lock.
func NewGetSet(client redis.Cmdable, opts lock.Options) *GetSet { return &GetSet{client, opts} }

// Lock polls until the lock is ours; see lock.Locker.
func (g *GetSet) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return lock.Poll(ctx, g.opts, func() (*lock.Lease, error) { return g.TryLock(ctx, owner) })
}

// TryLock tries once; see lock.Locker.
func (g *GetSet) TryLock(ctx context.Context, _ string) (*lock.Lease, error) {
	now := g.opts.Clock.Now()
	expiry := now.Add(g.opts.TTL).UnixMilli()
	got, err := g.client.SetNX(ctx, g.opts.Key, expiry, 0).Result()
	if err == nil && !got {
		got, err = g.takeOver(ctx, now, expiry)
	}
	switch {
	case err != nil:
		return nil, lock.Failed(ctx, "taking the lock", err)
	case !got:
		return nil, lock.ErrNotObtained
	}
	return lock.NewLease(ctx, g.opts, 0, g.unlock), nil
}

// takeOver takes a lock that has expired by our clock. Of several who try, the first is given the old expiry.
func (g *GetSet) takeOver(ctx context.Context, now time.Time, expiry int64) (bool, error) {
	seen, err := g.client.Get(ctx, g.opts.Key).Result()
	if errors.Is(err, redis.Nil) || redis.HasErrorPrefix(err, "WRONGTYPE") {
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

// unlock deletes the lock, whosever it is by now.
func (g *GetSet) unlock(ctx context.Context) error {
	deleted, err := g.client.Del(ctx, g.opts.Key).Result()
	switch {
	case err != nil:
		return lock.Failed(ctx, "DEL", err)
	case deleted == 0:
		return lock.ErrExpired
	}
	return nil
}
