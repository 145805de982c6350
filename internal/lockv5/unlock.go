package lockv5

import (
	"context"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// unlock releases the lock once, if it still belongs to owner.
func (l *Locker) unlock(ctx context.Context, owner string) error {
	reply, err := l.client.Eval(ctx, lua.Unlock, []string{l.opts.Key}, owner).Int()
	switch {
	case err != nil:
		return rediserr.Classify(ctx, "EVAL unlock.lua", err)
	case reply == lua.HeldByNobody:
		return lock.ErrExpired
	case reply == lua.HeldByAnother:
		return lock.ErrNotOwner
	}
	return nil
}
