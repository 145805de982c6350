package redlock

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/util/lua"
)

// startRenewal starts to renew an attempt's lock; the acquiring commands were sent at sent.
func (l *Locker) startRenewal(attempt string, sent time.Time) *lock.Renewal {
	opts := l.opts
	opts.TTL = l.validity() // for the renewal's deadline; the nodes get the whole TTL
	return lock.StartRenewal(opts, sent, func(ctx context.Context) error { return l.renew(ctx, attempt) })
}

// renew sets the expiry again, while a majority agrees that the lock is ours.
func (l *Locker) renew(ctx context.Context, attempt string) error {
	t, _ := l.nodes.Vote(ctx, func(ctx context.Context, client redis.Cmdable) (bool, error) {
		reply, err := client.Eval(ctx, lua.CompareAndExtend, []string{l.opts.Key}, attempt, l.opts.TTL.Milliseconds()).Int()
		return reply != lua.NotRenewed, err
	})
	switch {
	case t.Yes >= l.nodes.Majority():
		return nil
	case t.No > l.nodes.Minority():
		return lock.ErrNotOwner
	}
	return l.nodes.UnavailableError("EVAL compareAndExtend.lua", t)
}
