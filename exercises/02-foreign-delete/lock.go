// Package foreigndelete is exercise 02.
//
// Task: A sale that works longer than the expiry never deletes another sale's lock, and a crashed holder's lock frees within a minute.
// 要求：业务耗时超过过期时间的一单，绝不删除别人的锁；持有者崩溃后，锁一分钟内释放。
// Story, claim and hints: README.md, README.zh-CN.md. Check: go run . check 02
package foreigndelete

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
func (l *Locker) TryLock(ctx context.Context, _ string) (*lock.Lease, error) {
	err := l.client.SetArgs(ctx, l.opts.Key, "1", redis.SetArgs{Mode: "NX", TTL: l.opts.TTL}).Err()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, lock.ErrNotObtained
	case err != nil:
		return nil, rediserr.Classify(ctx, "SET NX PX", err)
	}
	return lock.NewLease(ctx, l.opts.Clock, 0, func(ctx context.Context) error { return l.unlock(ctx) }), nil
}

// unlock gives the lock back.
func (l *Locker) unlock(ctx context.Context) error {
	deleted, err := l.client.Del(ctx, l.opts.Key).Result()
	switch {
	case err != nil:
		return rediserr.Classify(ctx, "DEL", err)
	case deleted == 0:
		return lock.ErrExpired
	}
	return nil
}
