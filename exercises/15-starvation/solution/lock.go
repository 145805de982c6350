// Package starvation solves exercise 15.
//
// Cure: the sales of a process queue for a turn, and only the one whose turn it is asks Redis.
package starvation

import (
	"context"
	"errors"
	"sync"

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
	turn   chan struct{} // holds one token while nobody of this process asks for the lock or has it; the runtime serves waiters in order
}

// New makes the lock.
func New(p strategy.Parts) lock.Locker {
	l := &Locker{client: p.Client, opts: p.Options, turn: make(chan struct{}, 1)}
	l.turn <- struct{}{}
	return l
}

// Lock waits for its turn, and then tries again until the lock is ours.
func (l *Locker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	if err := l.opts.Clock.Wait(ctx, l.turn); err != nil {
		return nil, errors.Join(lock.ErrCancelled, err)
	}
	return l.inTurn(lock.Poll(ctx, l.opts, func() (*lock.Lease, error) { return l.try(ctx, owner) }))
}

// TryLock tries once, unless it is another's turn.
func (l *Locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	select {
	case <-l.turn:
		return l.inTurn(l.try(ctx, owner))
	default:
		return nil, lock.ErrNotObtained
	}
}

// inTurn ends a turn when the lock is given back, or was not obtained.
func (l *Locker) inTurn(lease *lock.Lease, err error) (*lock.Lease, error) {
	end := sync.OnceFunc(func() { l.turn <- struct{}{} })
	if err != nil {
		end()
		return nil, err
	}
	return lease.WithUnlock(func(ctx context.Context) error {
		defer end()
		return lease.Unlock(ctx)
	}), nil
}

// try asks Redis once.
func (l *Locker) try(ctx context.Context, owner string) (*lock.Lease, error) {
	err := l.client.SetArgs(ctx, l.opts.Key, owner, redis.SetArgs{Mode: "NX", TTL: l.opts.TTL}).Err()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, lock.ErrNotObtained
	case err != nil:
		return nil, rediserr.Classify(ctx, "SET NX PX", err)
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
