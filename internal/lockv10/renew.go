package lockv10

import (
	"context"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// Renew sets the expiry again; see lock.Global. In Redis the process is the owner now, and the attempt its value.
func (l *Locker) Renew(ctx context.Context, _ lock.Grant) error {
	reply, err := l.client.Eval(ctx, lua.UpdateExpireTime, []string{l.opts.Key}, l.Process(), l.opts.TTL.Milliseconds()).Int()
	switch {
	case err != nil:
		return rediserr.Classify(ctx, "EVAL updateExpireTime.lua", err)
	case reply == lua.NotRenewed:
		return lock.ErrNotOwner
	}
	return nil
}
