package redlock

import (
	"context"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/util/lua"
)

// Renew sets the expiry again, while a majority agrees that the lock is ours; see lock.Global.
func (l *Locker) Renew(ctx context.Context, held lock.Grant) error {
	t, _ := l.nodes.Vote(ctx, func(ctx context.Context, client redis.Cmdable) (bool, error) {
		reply, err := client.Eval(ctx, lua.CompareAndExtend, []string{l.opts.Key}, held.Attempt, l.opts.TTL.Milliseconds()).Int()
		return reply != lua.NotRenewed, err
	})
	switch {
	case t.Yes >= l.nodes.Majority():
		return nil
	case t.No > l.nodes.Minority():
		return lock.ErrNotOwner
	}
	return l.nodes.Unavailable("EVAL compareAndExtend.lua", t)
}
