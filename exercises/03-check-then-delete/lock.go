// Package checkthendelete is exercise 03.
//
// Task: Whenever the lock expires, nobody deletes another sale's lock.
// 要求：无论锁何时过期，谁都不会删除别人的锁。
// Story, claim and hints: README.md, README.zh-CN.md. Check: go run . check 03
package checkthendelete

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/strategy"
)

// Strategy is what the check explores.
func Strategy() strategy.Strategy { return strategy.Strategy{New: New} }

// Locker is the lock of one process.
type Locker struct {
	client redis.Cmdable
	opts   lock.Options
}

// New makes the lock.
func New(p strategy.Parts) lock.Locker { return &Locker{client: p.Client, opts: p.Options} }

// Lock tries again until the lock is ours.
func (l *Locker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return lock.Poll(ctx, l.opts, func() (*lock.Lease, error) { return l.TryLock(ctx, owner) })
}

// TryLock tries once.
func (l *Locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	err := l.client.SetArgs(ctx, l.opts.Key, owner, redis.SetArgs{Mode: "NX", TTL: l.opts.TTL}).Err()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, lock.ErrNotObtained
	case err != nil:
		return nil, rediserr.Classify(ctx, "SET NX PX", err)
	}
	return lock.NewLease(ctx, l.opts.Clock, 0, func(ctx context.Context) error { return l.unlock(ctx, owner) }), nil
}

// unlock gives the lock back, if it is still ours.
func (l *Locker) unlock(ctx context.Context, owner string) error {
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
