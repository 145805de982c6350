// Package majority is exercise 11.
//
// Task: Two sales never hold the lock at the same time, and a sale gets it even if a minority of the three, four or five nodes is down. A
// sale that gets no majority releases what it got.
// 要求：任何时候都不会有两单同时持有锁；三个、四个或五个节点中有少数宕机时，仍能加锁成功；没有得到多数派同意，就释放已经加上的锁。
// Story, claim and hints: README.md, README.zh-CN.md. Check: go run . check 11
package majority

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

// Locker is the lock of one process. It is on several Redis servers that know nothing of each other.
type Locker struct {
	nodes []redis.Cmdable
	opts  lock.Options
}

// New makes the lock.
func New(p strategy.Parts) lock.Locker { return &Locker{nodes: p.Nodes, opts: p.Options} }

// Lock tries again until the lock is ours.
func (l *Locker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return lock.Poll(ctx, l.opts, func() (*lock.Lease, error) { return l.TryLock(ctx, owner) })
}

// majority is how many nodes have to agree.
func (l *Locker) majority() int { return len(l.nodes) / 2 }

// TryLock tries once: it asks one node after the other.
func (l *Locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	agreed := 0
	for _, node := range l.nodes {
		err := node.SetArgs(ctx, l.opts.Key, owner, redis.SetArgs{Mode: "NX", TTL: l.opts.TTL}).Err()
		if err == nil {
			agreed++
		}
	}
	unlock := func(ctx context.Context) error { return l.unlock(ctx, owner) }
	if agreed < l.majority() {
		_ = lock.WithDetachedTimeout(ctx, l.opts.Clock, unlock) // what a minority gave is given back
		return nil, lock.ErrNotObtained
	}
	return lock.NewLease(ctx, l.opts.Clock, 0, unlock), nil
}

// compareAndDelete deletes the lock if it is still the owner's. It answers 1; 10 if it is another's, 30 if it is nobody's.
const compareAndDelete = `-- compareAndDelete: gives the lock back
local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return holder and 10 or 30`

// unlock gives the lock back on every node, if it is still ours there.
func (l *Locker) unlock(ctx context.Context, owner string) error {
	released := 0
	var failed error
	for _, node := range l.nodes {
		reply, err := node.Eval(ctx, compareAndDelete, []string{l.opts.Key}, owner).Int()
		switch {
		case err != nil:
			failed = errors.Join(failed, rediserr.Classify(ctx, "EVAL compareAndDelete", err))
		case reply == 1:
			released++
		}
	}
	switch {
	case released >= l.majority():
		return nil
	case failed != nil:
		return failed
	}
	return lock.ErrExpired
}
