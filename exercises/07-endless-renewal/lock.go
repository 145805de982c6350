// Package endlessrenewal is exercise 07.
//
// Task: When a sale has ended, no goroutine of its lock is left. A long sale keeps its lock, and a crashed holder's lock frees within a
// minute.
// 要求：一单结束后，它的锁不留下任何 goroutine；业务耗时长的一单，锁不会丢失；持有者崩溃后，锁一分钟内释放。
// Story, claim and hints: README.md, README.zh-CN.md. Check: go run . check 07
package endlessrenewal

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
	l.opts.Clock.Go("renewal", func() { l.renew(context.WithoutCancel(ctx), owner) })
	return lock.NewLease(ctx, l.opts.Clock, 0, func(ctx context.Context) error { return l.unlock(ctx, owner) }), nil
}

// compareAndExtend sets the expiry again if the lock is still the owner's. It answers 1; 0 if it is not.
const compareAndExtend = `-- compareAndExtend: renews the lock
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0`

// renew sets the expiry again, every third of it.
func (l *Locker) renew(ctx context.Context, owner string) {
	for {
		if lock.Sleep(ctx, l.opts.Clock, l.opts.TTL/3) != nil {
			return
		}
		_ = l.client.Eval(ctx, compareAndExtend, []string{l.opts.Key}, owner, l.opts.TTL.Milliseconds()).Err() // the next one may succeed
	}
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
