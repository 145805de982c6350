package lockv4

import (
	"context"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// unlock deletes the lock if it still belongs to owner.
func (l *Locker) unlock(ctx context.Context, owner string) error {
	reply, err := l.client.Eval(ctx, lua.CompareAndDelete, []string{l.opts.Key}, owner).Int()
	switch {
	case err != nil:
		return rediserr.Classify(ctx, "EVAL compareAndDelete.lua", err)
	case reply == lua.HeldByNobody:
		return lock.ErrExpired
	case reply == lua.HeldByAnother:
		return lock.ErrNotOwner
	}
	return nil
}
