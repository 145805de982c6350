package lockv10

import (
	"context"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// unlock gives the lock back once, if it is still owner's, and reports whether owner keeps it for an outer call.
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
	return reply == lua.Kept, nil
}

// release gives the lock back for good: a nested lock whose reply was lost is still counted.
func (l *Locker) release(ctx context.Context, owner string) error {
	for {
		if kept, err := l.unlock(ctx, owner); !kept {
			return err
		}
	}
}

// quit gives up the place in the queue, for which there is no sale any more.
func (l *Locker) quit(ctx context.Context) {
	if owner := l.queued; owner != "" {
		l.queued = ""
		_ = lock.WithDetachedTimeout(ctx, l.opts.Clock, func(ctx context.Context) error { return l.release(ctx, owner) }) // or the place expires
	}
}

// Close ends the subscription; see lock.Closer.
func (l *Locker) Close(context.Context) error { return l.turn.Close() }

// undo gives back a lock whose reply was lost, or a place.
func (l *Locker) undo(ctx context.Context, err error, owner string) error {
	return lock.Undo(ctx, l.opts.Clock, err, func(ctx context.Context) error { return l.release(ctx, owner) })
}
