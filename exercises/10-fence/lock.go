// Package fence is exercise 10.
//
// Task: Once a newer holder has read the stock, no older one writes it. A holder that still has the lock is not refused.
// 要求：新的持有者一旦读过库存，旧的持有者就不能再写；锁还在手里的持有者不会被拒绝。
// Story, claim and hints: README.md, README.zh-CN.md. Check: go run . check 10
package fence

import (
	"context"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/strategy"
)

// Strategy is what the check explores: a lock, and how the store checks its fencing tokens.
func Strategy() strategy.Strategy { return strategy.Strategy{New: New, Check: check} }

// check is Lua. The store runs it in one step with each read and each write of the stock. It has the operation ("read" or "write"), the
// token of the sale, and seen, the key of the largest token that the store has seen. If it returns false, the store refuses.
const check = `
local largest = tonumber(redis.call('GET', seen) or 0)
if operation == 'write' then
  if token < largest then
    return false
  end
  redis.call('SET', seen, token)
end
return true`

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

// fence is the key of the last token given.
const fence = "{" + lock.Key + "}:fence"

// take takes the lock, and writes a new token, larger than all before it, as its value. It answers the token; 0 if the lock is another's.
const take = `-- take: takes the lock
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end
local token = redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[1], token, 'PX', ARGV[1])
return token`

// TryLock tries once.
func (l *Locker) TryLock(ctx context.Context, _ string) (*lock.Lease, error) {
	token, err := l.client.Eval(ctx, take, []string{l.opts.Key, fence}, l.opts.TTL.Milliseconds()).Int64()
	switch {
	case err != nil:
		return nil, rediserr.Classify(ctx, "EVAL take", err)
	case token == 0:
		return nil, lock.ErrNotObtained
	}
	return lock.NewLease(ctx, l.opts.Clock, token, func(ctx context.Context) error { return l.unlock(ctx, token) }), nil
}

// release deletes the lock if its token is ours. It answers 1; 10 if it is another's, 30 if it is nobody's.
const release = `-- release: gives the lock back
local held = redis.call('GET', KEYS[1])
if not held then
  return 30
end
if tonumber(held) == tonumber(ARGV[1]) then
  return redis.call('DEL', KEYS[1])
end
return 10`

// unlock gives the lock back, if it is still ours.
func (l *Locker) unlock(ctx context.Context, token int64) error {
	reply, err := l.client.Eval(ctx, release, []string{l.opts.Key}, token).Int()
	switch {
	case err != nil:
		return rediserr.Classify(ctx, "EVAL release", err)
	case reply == 30:
		return lock.ErrExpired
	case reply == 10:
		return lock.ErrNotOwner
	}
	return nil
}
