package lockv10

import (
	"context"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// Release hands the lock to the next process in the queue; see lock.Global. If more sales of this process wait, and no other process
// does, it keeps the lock. Without more sales it caches the lock, unless another process wants it.
func (l *Locker) Release(ctx context.Context, held lock.Grant, more bool) (kept lock.Grant, err error) {
	if !more && l.cache(held) {
		return lock.Grant{}, nil
	}
	return l.release(ctx, held, more)
}

func (l *Locker) release(ctx context.Context, held lock.Grant, more bool) (kept lock.Grant, err error) {
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

// cache keeps the lock for the next sale, or reports false if it has to be given back.
func (l *Locker) cache(held lock.Grant) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unsubscribe == nil || l.wanted == held.Attempt || !l.fresh(held) {
		return false
	}
	if l.missed {
		l.missed = false
		return false
	}
	l.cached = held
	return true
}

// Close gives back the cached lock, waits for one that is being given back, and ends the subscriptions; see lock.Closer.
func (l *Locker) Close(ctx context.Context) error {
	l.grants.Close()
	l.mu.Lock()
	held, unsubscribe, returned := l.cached, l.unsubscribe, l.returned
	l.cached, l.unsubscribe = lock.Grant{}, nil
	l.mu.Unlock()
	if unsubscribe != nil {
		unsubscribe()
	}
	return lock.WithDetachedTimeout(ctx, l.opts.Clock, func(ctx context.Context) error {
		if returned != nil && l.opts.Clock.Wait(ctx, returned) != nil {
			return context.Cause(ctx)
		}
		if held.Attempt == "" {
			return nil
		}
		return l.unlock(ctx, held)
	})
}

// unlock gives back what an attempt may have.
func (l *Locker) unlock(ctx context.Context, held lock.Grant) error {
	_, err := l.release(ctx, held, false)
	return err
}
