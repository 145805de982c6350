package redlock

import (
	"context"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/util/lua"
)

// Release gives the lock back, on all nodes that were asked for it, as one that did not answer may have granted it; see lock.Global. If
// more sales of this process wait, they let another process come first.
func (l *Locker) Release(ctx context.Context, held lock.Grant, more bool) (kept lock.Grant, err error) {
	l.yield = l.yield || more
	var anothers atomic.Int64
	t := l.nodes.Ask(ctx, l.asked, func(ctx context.Context, client redis.Cmdable) (bool, error) {
		reply, err := client.Eval(ctx, lua.CompareAndDelete, []string{l.opts.Key}, held.Attempt).Int()
		if reply == lua.HeldByAnother {
			anothers.Add(1)
		}
		return reply == lua.Released, err
	})
	switch {
	case t.Yes >= l.nodes.Majority():
		return lock.Grant{}, nil
	case t.Yes+t.Failed >= l.nodes.Majority():
		return lock.Grant{}, l.nodes.Unavailable("EVAL compareAndDelete.lua", t)
	case int(anothers.Load()) >= l.nodes.Majority():
		return lock.Grant{}, lock.ErrNotOwner
	}
	return lock.Grant{}, lock.ErrExpired
}

// Idle has nothing to do; see lock.Global.
func (l *Locker) Idle(context.Context) {}

// unlock gives back what an attempt may have.
func (l *Locker) unlock(ctx context.Context, held lock.Grant) error {
	_, err := l.Release(ctx, held, false)
	return err
}
