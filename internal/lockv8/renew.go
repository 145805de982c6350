package lockv8

import (
	"context"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// Renew sets the expiry again; see lock.Global.
func (l *Locker) Renew(ctx context.Context, held lock.Grant) error {
	reply, err := l.client.Eval(ctx, lua.UpdateExpireTime, []string{l.opts.Key}, held.Attempt, l.opts.TTL.Milliseconds()).Int()
	switch {
	case err != nil:
		return rediserr.Classify(ctx, "EVAL updateExpireTime.lua", err)
	case reply == lua.NotRenewed:
		return lock.ErrNotOwner
	}
	return nil
}
