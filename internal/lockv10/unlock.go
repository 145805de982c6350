package lockv10

import (
	"context"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// unlock releases the lock once, if it still belongs to owner, and reports whether owner keeps it for an outer call.
func (l *Locker) unlock(ctx context.Context, owner string) (kept bool, err error) {
	reply, err := l.client.Eval(ctx, lua.Release, l.keys(), owner, l.opts.Process, l.turnPrefix()).Int()
	switch {
	case err != nil:
		return false, rediserr.Classify(ctx, "EVAL release.lua", err)
	case reply == lua.HeldByNobody:
		return false, lock.ErrExpired
	case reply == lua.HeldByAnother:
		return false, lock.ErrNotOwner
	}
	return reply == lua.StillHeld, nil
}

// release releases the lock completely: a nested Lock whose reply was lost is still counted in Redis.
func (l *Locker) release(ctx context.Context, owner string) error {
	for {
		if kept, err := l.unlock(ctx, owner); !kept {
			return err
		}
	}
}

// quit gives up the place in the queue, because no sale of the process waits any more.
func (l *Locker) quit(ctx context.Context) {
	if owner := l.queued; owner != "" {
		l.queued = ""
		_ = lock.WithDetachedTimeout(ctx, l.opts.Clock, func(ctx context.Context) error { return l.release(ctx, owner) }) // or the place expires
	}
}

// Close ends the subscription; see lock.Closer.
func (l *Locker) Close(context.Context) error { return l.turn.Close() }

// undo gives up the lock, or the place in the queue, that a command with a lost reply may have obtained.
func (l *Locker) undo(ctx context.Context, err error, owner string) error {
	return lock.Undo(ctx, l.opts.Clock, err, func(ctx context.Context) error { return l.release(ctx, owner) })
}
