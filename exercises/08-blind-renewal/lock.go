// Package blindrenewal is exercise 08.
//
// Task: Nobody extends or removes another sale's lock. A long sale keeps its own; if somebody removes it by hand, the sale is told. A
// crashed holder's lock frees within a minute.
// 要求：谁都不会续期或删除别人的锁；业务耗时长的一单，锁不会丢失；锁如果被人手动删除，它会得知；持有者崩溃后，锁一分钟内释放。
// Story, claim and hints: README.md, README.zh-CN.md. Check: go run . check 08
package blindrenewal

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

// TryLock tries once. A lock obtained is renewed until it is given back. If it turns out to be lost, the lease's context ends.
func (l *Locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	err := l.client.SetArgs(ctx, l.opts.Key, owner, redis.SetArgs{Mode: "NX", TTL: l.opts.TTL}).Err()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, lock.ErrNotObtained
	case err != nil:
		return nil, rediserr.Classify(ctx, "SET NX PX", err)
	}
	work, lose := context.WithCancelCause(ctx)
	renewal, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	l.opts.Clock.Go("renewal", func() {
		defer close(ended)
		if l.renew(renewal, owner) {
			lose(lock.ErrLost)
		}
	})
	return lock.NewLease(work, l.opts.Clock, 0, func(ctx context.Context) error {
		stop()
		_ = l.opts.Clock.Wait(ctx, ended)
		return l.unlock(ctx, owner)
	}), nil
}

// renew sets the expiry again, every third of it. It reports whether the lock was lost.
func (l *Locker) renew(ctx context.Context, owner string) (lost bool) {
	for lock.Sleep(ctx, l.opts.Clock, l.opts.TTL/3) == nil {
		if errors.Is(l.extend(ctx, owner), lock.ErrNotOwner) {
			return true
		}
	}
	return false
}

// extend sets the expiry again. It fails with lock.ErrNotOwner when the lock is no longer ours.
func (l *Locker) extend(ctx context.Context, _ string) error {
	extended, err := l.client.PExpire(ctx, l.opts.Key, l.opts.TTL).Result()
	switch {
	case err != nil:
		return rediserr.Classify(ctx, "PEXPIRE", err)
	case !extended:
		return lock.ErrNotOwner
	}
	return nil
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
