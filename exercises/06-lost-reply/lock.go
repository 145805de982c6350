// Package lostreply is exercise 06.
//
// Task: After a lost reply, the count is right or the lock is released: nobody waits for the expiry. A nested call that fails before it
// sends a command takes nothing from its caller.
// 要求：响应丢失之后，要么计数正确，要么锁已释放：没有人需要等它过期。嵌套调用如果没发出请求就失败，外层的计数不变。
// Story, claim and hints: README.md, README.zh-CN.md. Check: go run . check 06
package lostreply

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

// enter takes the lock, a hash of owner and count, once more. It answers the count; 0 if the lock is another's.
const enter = `-- enter: takes the lock
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
local count = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return count`

// leave gives the lock back. It answers 1; 10 if it is another's, 30 if it is nobody's.
const leave = `-- leave: gives the lock back
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 30
end
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 10
end
if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) == 0 then
  redis.call('DEL', KEYS[1])
end
return 1`

// TryLock tries once. A nested call of the same owner gets the lock, too.
func (l *Locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	count, err := l.enter(ctx, owner)
	if errors.Is(err, lock.ErrOutcomeUnknown) { // the reply is missing: ask once more
		count, err = l.enter(ctx, owner)
	}
	switch {
	case err != nil:
		return nil, err
	case count == 0:
		return nil, lock.ErrNotObtained
	}
	return lock.NewLease(ctx, l.opts.Clock, 0, func(ctx context.Context) error { return l.unlock(ctx, owner) }), nil
}

func (l *Locker) enter(ctx context.Context, owner string) (int, error) {
	count, err := l.client.Eval(ctx, enter, []string{l.opts.Key}, owner, l.opts.TTL.Milliseconds()).Int()
	if err != nil {
		return 0, rediserr.Classify(ctx, "EVAL enter", err)
	}
	return count, nil
}

// unlock gives the lock back once. The last one deletes it.
func (l *Locker) unlock(ctx context.Context, owner string) error {
	reply, err := l.client.Eval(ctx, leave, []string{l.opts.Key}, owner).Int()
	switch {
	case err != nil:
		return rediserr.Classify(ctx, "EVAL leave", err)
	case reply == 30:
		return lock.ErrExpired
	case reply == 10:
		return lock.ErrNotOwner
	}
	return nil
}
