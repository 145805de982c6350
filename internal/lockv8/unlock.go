package lockv8

import (
	"context"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// Release gives the lock back; see lock.Global. If more sales of this process wait, they let another process come first.
func (l *Locker) Release(ctx context.Context, held lock.Grant, more bool) (kept lock.Grant, err error) {
	l.yield = l.yield || more
	reply, err := l.client.Eval(ctx, lua.Unlock, []string{l.opts.Key}, held.Attempt).Int()
	switch {
	case err != nil:
		return lock.Grant{}, rediserr.Classify(ctx, "EVAL unlock.lua", err)
	case reply == lua.HeldByNobody:
		return lock.Grant{}, lock.ErrExpired
	case reply == lua.HeldByAnother:
		return lock.Grant{}, lock.ErrNotOwner
	}
	return lock.Grant{}, nil
}

// Idle has nothing to do; see lock.Global.
func (l *Locker) Idle(context.Context) {}

// unlock gives back what an attempt may have.
func (l *Locker) unlock(ctx context.Context, held lock.Grant) error {
	_, err := l.Release(ctx, held, false)
	return err
}
