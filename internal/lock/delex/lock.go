// Package delex is a branch of the evolution, off v4: comparing and deleting are one command of Redis, and no script.
//
// Adds: a branch off v4: one native command instead of the script: DELEX (Redis 8.4), DELIFEQ (Valkey 9).
// Costs: 2 commands per sale, plus one per poll; the reply does not tell an expired lock from another's.
// Still broken: as v4; older servers do not have the command.
package delex

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
)

// Locker is the lock. Its whole state is in Redis.
type Locker struct {
	client  redis.UniversalClient
	opts    lock.Options
	command string // compare-and-delete command: DELEX (Redis) or DELIFEQ (Valkey)
}

// New returns the lock with the key opts.Key, on a server with this compare-and-delete command.
func New(client redis.UniversalClient, opts lock.Options, command string) *Locker {
	return &Locker{client: client, opts: opts, command: command}
}

// Lock polls until the lock is ours; see lock.Locker.
func (l *Locker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return lock.Poll(ctx, l.opts, func() (*lock.Lease, error) { return l.TryLock(ctx, owner) })
}

// TryLock makes one attempt; see lock.Locker.
func (l *Locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	err := l.client.SetArgs(ctx, l.opts.Key, owner, redis.SetArgs{Mode: "NX", TTL: l.opts.TTL}).Err()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, lock.ErrNotObtained
	case err != nil: // if only the reply was lost, the lock may be ours: release it
		err = rediserr.Classify(ctx, "SET NX EX", err)
		return nil, lock.Undo(ctx, l.opts.Clock, err, func(ctx context.Context) error { return l.unlock(ctx, owner) })
	}
	return lock.NewLease(ctx, l.opts.Clock, 0, func(ctx context.Context) error { return l.unlock(ctx, owner) }), nil
}
