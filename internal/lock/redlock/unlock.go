package redlock

import (
	"context"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/util/lua"
)

// release releases the lock on all nodes that were asked for it, because one that did not answer may have granted it.
func (l *Locker) release(ctx context.Context, attempt string) error {
	var anothers atomic.Int64
	t := l.nodes.Ask(ctx, l.asked, func(ctx context.Context, client redis.Cmdable) (bool, error) {
		reply, err := client.Eval(ctx, lua.CompareAndDelete, []string{l.opts.Key}, attempt).Int()
		if reply == lua.HeldByAnother {
			anothers.Add(1)
		}
		return reply == lua.Released, err
	})
	switch {
	case t.Yes >= l.nodes.Majority():
		return nil
	case t.Yes+t.Failed >= l.nodes.Majority():
		return l.nodes.UnavailableError("EVAL compareAndDelete.lua", t)
	case int(anothers.Load()) >= l.nodes.Majority():
		return lock.ErrNotOwner
	}
	return lock.ErrExpired
}
