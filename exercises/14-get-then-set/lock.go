// Package getthenset is exercise 14.
//
// Task: Of the sales that find the lock free, only one gets it, and nobody else deletes it while it works. A crashed holder's lock frees
// within a minute.
// 要求：发现锁空闲的各单当中，只有一单能加锁成功；它执行期间，别人不会删除它的锁；持有者崩溃后，锁一分钟内释放。
// Story, claim and hints: README.md, README.zh-CN.md. Check: go run . check 14
package getthenset

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
	err := l.client.Get(ctx, l.opts.Key).Err()
	switch {
	case err == nil:
		return nil, lock.ErrNotObtained
	case !errors.Is(err, redis.Nil):
		return nil, rediserr.Classify(ctx, "GET", err)
	}
	if err := l.client.Set(ctx, l.opts.Key, owner, l.opts.TTL).Err(); err != nil {
		return nil, rediserr.Classify(ctx, "SET PX", err)
	}
	return lock.NewLease(ctx, l.opts.Clock, 0, func(ctx context.Context) error { return l.unlock(ctx, owner) }), nil
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
