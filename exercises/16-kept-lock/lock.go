// Package keptlock is exercise 16.
//
// Task: A process keeps the lock for its next sale, and gives it back as soon as the other one has asked; if a sale is using it, after that
// sale.
// 要求：进程把锁留给自己的下一单；一有别人要锁就释放；别人要锁时锁正在使用，用完就释放。
// Story, claim and hints: README.md, README.zh-CN.md. Check: go run . check 16
package keptlock

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/strategy"
)

// channel is where a process says that it wants the lock.
const channel = "{" + lock.Key + "}:wanted"

// Strategy is what the check explores.
func Strategy() strategy.Strategy { return strategy.Strategy{New: New} }

// Locker is the lock of one process, which sells one piece at a time. It keeps the lock for its next sale.
type Locker struct {
	client   redis.Cmdable
	opts     lock.Options
	notifier lock.Notifier

	mu   sync.Mutex
	kept *kept  // nil while a sale uses the lock, or another process has it
	stop func() // ends listening; nil before the first sale
}

// kept is a lock that its process keeps while no sale uses it.
type kept struct {
	owner string // that obtained it
	until time.Time
}

// New makes the lock.
func New(p strategy.Parts) lock.Locker {
	return &Locker{client: p.Client, opts: p.Options, notifier: p.Notifier}
}

// Lock uses the lock that is kept, or says that it wants it, and tries again until the lock is ours.
func (l *Locker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	lease, err := l.TryLock(ctx, owner)
	if !errors.Is(err, lock.ErrNotObtained) {
		return lease, err
	}
	if err := l.client.Publish(ctx, channel, l.opts.Process).Err(); err != nil {
		return nil, rediserr.Classify(ctx, "PUBLISH", err)
	}
	return lock.Poll(ctx, l.opts, func() (*lock.Lease, error) { return l.TryLock(ctx, owner) })
}

// TryLock tries once.
func (l *Locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	if k := l.take(); k != nil {
		return l.lease(ctx, *k), nil
	}
	k := kept{lock.ProcessOwner(l.opts.Process, owner), l.opts.Clock.Now().Add(l.opts.TTL / 2)} // after that it is too late to use it again
	err := l.client.SetArgs(ctx, l.opts.Key, k.owner, redis.SetArgs{Mode: "NX", TTL: l.opts.TTL}).Err()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, lock.ErrNotObtained
	case err != nil:
		return nil, rediserr.Classify(ctx, "SET NX PX", err)
	}
	return l.lease(ctx, k), nil
}

func (l *Locker) lease(ctx context.Context, k kept) *lock.Lease {
	return lock.NewLease(ctx, l.opts.Clock, 0, func(ctx context.Context) error {
		if l.keep(k) {
			return nil
		}
		return l.unlock(ctx, k.owner)
	})
}

// take takes the lock that is kept, nil if there is none that may be used, and begins to listen for the other process.
func (l *Locker) take() *kept {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop == nil {
		l.stop = l.notifier.Subscribe(channel, l.hear)
	}
	k := l.kept
	l.kept = nil
	if k != nil && l.opts.Clock.Now().After(k.until) {
		return nil // it expires
	}
	return k
}

// keep keeps the lock for the next sale, unless it is about to expire.
func (l *Locker) keep(k kept) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opts.Clock.Now().After(k.until) {
		return false
	}
	l.kept = &k
	return true
}

// hear is told which process wants the lock: one that is kept is given back.
func (l *Locker) hear(process string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.kept
	if k == nil || process == l.opts.Process {
		return
	}
	l.kept = nil
	l.opts.Clock.Go("hear", func() { _ = l.unlock(context.Background(), k.owner) }) // if this fails, the lock expires
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
