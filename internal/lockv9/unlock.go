package lockv9

import (
	"context"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// Release hands the lock to the next process in the queue; see lock.Global. If more sales of this process wait, and no other process
// does, it keeps the lock.
func (l *Locker) Release(ctx context.Context, held lock.Grant, more bool) (kept lock.Grant, err error) {
	keep, sent := time.Duration(0), l.opts.Clock.Now()
	if more {
		keep = l.opts.TTL
	}
	reply, err := l.client.Eval(ctx, lua.Release, l.keys(), l.Process(), held.Attempt,
		keep.Milliseconds(), l.Tokens(), l.channels()).Int64Slice()
	switch {
	case err != nil:
		return lock.Grant{}, rediserr.Classify(ctx, "EVAL release.lua", err)
	case reply[0] == lua.HeldByNobody:
		return lock.Grant{}, lock.ErrExpired
	case reply[0] == lua.HeldByAnother:
		return lock.Grant{}, lock.ErrNotOwner
	case reply[0] == lua.Kept:
		return lock.Grant{Attempt: held.Attempt, Sent: sent}.WithTokens(reply[1], l.Tokens()), nil
	}
	return lock.Grant{}, nil
}

// Idle gives up the place in the queue, for which there is no sale any more; see lock.Global.
func (l *Locker) Idle(ctx context.Context) {
	if l.queued != "" {
		place := lock.Grant{Attempt: l.queued}
		l.queued = ""
		_ = lock.WithDetachedTimeout(ctx, l.opts.Clock, func(ctx context.Context) error { return l.unlock(ctx, place) }) // or it expires
	}
}

// Close ends the subscription; see lock.Closer.
func (l *Locker) Close(context.Context) error {
	l.grants.Close()
	return nil
}

// unlock gives back what an attempt may have.
func (l *Locker) unlock(ctx context.Context, held lock.Grant) error {
	_, err := l.Release(ctx, held, false)
	return err
}
