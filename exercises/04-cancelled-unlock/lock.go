// Package cancelledunlock is exercise 04.
//
// Task: When a client disconnects, the lock is released at once.
// 要求：客户端断开时，锁立即释放。
// Story, claim and hints: README.md, README.zh-CN.md. Check: go run . check 04
package cancelledunlock

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
	return lock.NewLease(ctx, l.opts.Clock, 0, func(context.Context) error { return l.unlock(ctx, owner) }), nil
}

// compareAndDelete deletes the lock if it is still the owner's. It answers 1; 10 if it is another's, 30 if it is nobody's.
const compareAndDelete = `-- compareAndDelete: gives the lock back
local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return holder and 10 or 30`

// unlock gives the lock back, if it is still ours.
func (l *Locker) unlock(ctx context.Context, owner string) error {
	reply, err := l.client.Eval(ctx, compareAndDelete, []string{l.opts.Key}, owner).Int()
	switch {
	case err != nil:
		return rediserr.Classify(ctx, "EVAL compareAndDelete", err)
	case reply == 30:
		return lock.ErrExpired
	case reply == 10:
		return lock.ErrNotOwner
	}
	return nil
}
