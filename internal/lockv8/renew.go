package lockv8

import (
	"context"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// startRenewal starts to renew owner's lock; the acquiring command was sent at sent.
func (l *Locker) startRenewal(owner string, sent time.Time) *lock.Renewal {
	return lock.StartRenewal(l.opts, sent, func(ctx context.Context) error { return l.renew(ctx, owner) })
}

// renew sets the expiry again.
func (l *Locker) renew(ctx context.Context, owner string) error {
	reply, err := l.client.Eval(ctx, lua.UpdateExpireTime, []string{l.opts.Key}, owner, l.opts.TTL.Milliseconds()).Int()
	switch {
	case err != nil:
		return rediserr.Classify(ctx, "EVAL updateExpireTime.lua", err)
	case reply == lua.NotRenewed:
		return lock.ErrNotOwner
	}
	return nil
}
