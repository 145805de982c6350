package lockv7

import (
	"context"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// unlock gives the lock back once, if it is still owner's; at the outermost call, whatever is counted.
func (l *Locker) unlock(ctx context.Context, owner string, outermost bool) error {
	for {
		reply, err := l.client.Eval(ctx, lua.Unlock, []string{l.opts.Key}, owner).Int()
		switch {
		case err != nil:
			return rediserr.Classify(ctx, "EVAL unlock.lua", err)
		case reply == lua.HeldByNobody:
			return lock.ErrExpired
		case reply == lua.HeldByAnother:
			return lock.ErrNotOwner
		case reply == lua.Kept && outermost:
			continue // a nested lock whose reply was lost is still counted
		}
		return nil
	}
}

// undo gives back a lock whose reply was lost, unless an outer call holds it: that one's Unlock will.
func (l *Locker) undo(ctx context.Context, err error, owner string) error {
	if l.holdings.Hold(owner) {
		return err
	}
	return lock.Undo(ctx, l.opts.Clock, err, func(ctx context.Context) error { return l.unlock(ctx, owner, true) })
}
