// Package tokenoutside solves exercise 12.
//
// Cure: one script takes the lock and gives the token.
package tokenoutside

import (
	"context"

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

// fence is the key of the last token given.
const fence = "{" + lock.Key + "}:fence"

// take takes the lock, and gives its holder a token larger than all before it. It answers the token; 0 if the lock is another's.
const take = `-- take: takes the lock
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return redis.call('INCR', KEYS[2])`

// TryLock tries once. The lease has a fencing token, which the stock compares with the largest one that it has seen.
func (l *Locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	token, err := l.client.Eval(ctx, take, []string{l.opts.Key, fence}, owner, l.opts.TTL.Milliseconds()).Int64()
	switch {
	case err != nil:
		return nil, rediserr.Classify(ctx, "EVAL take", err)
	case token == 0:
		return nil, lock.ErrNotObtained
	}
	return lock.NewLease(ctx, l.opts.Clock, token, func(ctx context.Context) error { return l.unlock(ctx, owner) }), nil
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
