package contrast

import (
	"context"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// Detour is an antipattern that write-ups recommend on the way to v2, or warn of. Detours differ in how they take the lock; all of them
// release it by a plain DEL.
type Detour struct {
	client redis.Cmdable
	opts   lock.Options
	take   func(ctx context.Context, owner string) (bool, error) // tries once to take the lock, and reports whether it succeeded
}

// NewSetNXExpire returns a lock of two commands, SETNX and PEXPIRE.
//
// Adds: an expiry, by a second command.
// Costs: 3 commands per sale, plus one per poll.
// Still broken: a holder that dies between the two leaves a lock forever.
//
// Sources: "seven ways to lock", the first; "a small lock in Python".
func NewSetNXExpire(client redis.Cmdable, opts lock.Options) *Detour {
	return &Detour{client, opts, func(ctx context.Context, owner string) (bool, error) {
		got, err := client.SetNX(ctx, opts.Key, owner, 0).Result()
		if err != nil || !got {
			return false, err
		}
		return true, client.PExpire(ctx, opts.Key, opts.TTL).Err()
	}}
}

// NewLuaSetNX returns a lock of one script, with the commands of NewSetNXExpire.
//
// Adds: the two commands as one script.
// Costs: 2 commands per sale (one is a script), plus one per poll.
// Still broken: an overdue holder deletes the next one's lock, as v2's.
//
// Source: "seven ways to lock", the third. SET NX PX does it without a script.
func NewLuaSetNX(client redis.Cmdable, opts lock.Options) *Detour {
	return &Detour{client, opts, func(ctx context.Context, owner string) (bool, error) {
		return client.Eval(ctx, lua.SetNXExpire, []string{opts.Key}, owner, opts.TTL.Milliseconds()).Bool()
	}}
}

// NewSetExpire returns a lock that everybody gets, by SET and PEXPIRE.
//
// Adds: nothing: there is no NX.
// Costs: 3 commands per sale.
// Still broken: everybody gets the lock.
//
// Source: "oversell, and jobs run twice", the first wrong way.
func NewSetExpire(client redis.Cmdable, opts lock.Options) *Detour {
	return &Detour{client, opts, func(ctx context.Context, owner string) (bool, error) {
		if err := client.Set(ctx, opts.Key, owner, 0).Err(); err != nil {
			return false, err
		}
		return true, client.PExpire(ctx, opts.Key, opts.TTL).Err()
	}}
}

// NewSetEX returns a lock that everybody gets, by SETEX.
//
// Adds: nothing: there is no NX.
// Costs: 2 commands per sale.
// Still broken: everybody gets the lock.
//
// Source: "oversell, and jobs run twice", the second wrong way. SET … EX is the same.
func NewSetEX(client redis.Cmdable, opts lock.Options) *Detour {
	return &Detour{client, opts, func(ctx context.Context, owner string) (bool, error) {
		return true, client.Set(ctx, opts.Key, owner, opts.TTL).Err()
	}}
}

// Lock polls until the lock is ours; see lock.Locker.
func (d *Detour) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return lock.Poll(ctx, d.opts, func() (*lock.Lease, error) { return d.TryLock(ctx, owner) })
}

// TryLock tries once; see lock.Locker.
func (d *Detour) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	obtained, err := d.take(ctx, owner)
	switch {
	case err != nil:
		return nil, rediserr.Classify(ctx, "taking the lock", err)
	case !obtained:
		return nil, lock.ErrNotObtained
	}
	return lock.NewLease(ctx, d.opts.Clock, 0, d.unlock), nil
}

// unlock deletes the lock, even if it belongs to another owner by now.
func (d *Detour) unlock(ctx context.Context) error {
	deleted, err := d.client.Del(ctx, d.opts.Key).Result()
	switch {
	case err != nil:
		return rediserr.Classify(ctx, "DEL", err)
	case deleted == 0:
		return lock.ErrExpired
	}
	return nil
}
