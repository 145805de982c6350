// Package missedwakeup is exercise 09.
//
// Task: Whenever the lock is released, every waiter gets it in the end.
// 要求：无论锁何时释放，每个等待者最终都能加锁成功。
// Story, claim and hints: README.md, README.zh-CN.md. Check: go run . check 09
package missedwakeup

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

// channel is where a release says that the lock is free.
const channel = "{" + lock.Key + "}:free"

// waited is the key of how many had to wait.
const waited = "{" + lock.Key + "}:waited"

// Locker is the lock of one process.
type Locker struct {
	client   redis.Cmdable
	opts     lock.Options
	notifier lock.Notifier
}

// New makes the lock.
func New(p strategy.Parts) lock.Locker {
	return &Locker{client: p.Client, opts: p.Options, notifier: p.Notifier}
}

// Lock asks for the lock, and waits for the message that it is free. It does not poll.
func (l *Locker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	for {
		lease, err := l.TryLock(ctx, owner)
		if !errors.Is(err, lock.ErrNotObtained) {
			return lease, err
		}
		if err := l.untilFree(ctx); err != nil {
			return nil, err
		}
	}
}

// untilFree waits for a message. The dashboard shows how many had to.
func (l *Locker) untilFree(ctx context.Context) error {
	if err := l.client.Incr(ctx, waited).Err(); err != nil {
		return rediserr.Classify(ctx, "INCR", err)
	}
	free, stop := l.listen()
	defer stop()
	return l.wait(ctx, free)
}

// listen gives a channel that holds one token once a message has come.
func (l *Locker) listen() (free chan struct{}, stop func()) {
	free = make(chan struct{}, 1)
	return free, l.notifier.Subscribe(channel, func(string) {
		select {
		case free <- struct{}{}:
		default: // it holds one already
		}
	})
}

// wait waits for a message.
func (l *Locker) wait(ctx context.Context, free <-chan struct{}) error {
	if err := l.opts.Clock.Wait(ctx, free); err != nil {
		return errors.Join(lock.ErrCancelled, err)
	}
	return nil
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
	return lock.NewLease(ctx, l.opts.Clock, 0, func(ctx context.Context) error { return l.unlock(ctx, owner) }), nil
}

// release deletes the lock if it is still the owner's, and tells the waiters. It answers 1; 10 if it is another's, 30 if it is nobody's.
const release = `-- release: gives the lock back, and tells
local holder = redis.call('GET', KEYS[1])
if holder ~= ARGV[1] then
  return holder and 10 or 30
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[2], 'free')
return 1`

// unlock gives the lock back, if it is still ours.
func (l *Locker) unlock(ctx context.Context, owner string) error {
	reply, err := l.client.Eval(ctx, release, []string{l.opts.Key}, owner, channel).Int()
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
