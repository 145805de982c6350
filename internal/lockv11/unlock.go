package lockv11

import (
	"context"
	"time"

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

// keep keeps the lock for the next sale, or reports false if another process may wait for it, or it is about to expire.
func (l *Locker) keep(k kept) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wanted || l.unsubscribe == nil || !l.fresh(k.sent) {
		return false
	}
	l.kept = &k
	return true
}

// take takes the kept lock, nil if there is none, and begins to listen for others that want it.
func (l *Locker) take() *kept {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unsubscribe == nil {
		l.unsubscribe = l.opts.Notifier.Subscribe(l.wantedPrefix()+lock.Owner(l.opts.Process), l.hear)
	}
	k := l.kept
	l.kept = nil
	return k
}

// want remembers whether another process may have asked for the lock.
func (l *Locker) want(wanted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wanted = wanted
}

// hear is told that another process wants the lock, or may want it: a kept lock is given back at once, one in use after that.
func (l *Locker) hear(string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, returned := l.kept, make(chan struct{})
	l.kept, l.wanted = nil, true
	if k != nil {
		l.returned = returned
		l.opts.Clock.Go("hear", func() {
			defer close(returned)
			_ = l.giveBack(context.Background(), k) // if this fails, the lock expires
		})
	}
}

// giveBack gives back a lock that was kept.
func (l *Locker) giveBack(ctx context.Context, k *kept) error {
	return lock.WithDetachedTimeout(ctx, l.opts.Clock, func(ctx context.Context) error { return l.release(ctx, k.owner) })
}

// fresh reports whether the lock has at least half of its expiry left.
func (l *Locker) fresh(sent time.Time) bool { return l.opts.Clock.Now().Sub(sent) < l.opts.TTL/2 }

// Close gives back the kept lock, waits for one that is being given back, and ends the subscriptions; see lock.Closer.
func (l *Locker) Close(ctx context.Context) error {
	l.mu.Lock()
	k, unsubscribe, returned := l.kept, l.unsubscribe, l.returned
	l.kept, l.unsubscribe = nil, nil
	l.mu.Unlock()
	if unsubscribe != nil {
		unsubscribe()
	}
	if returned != nil {
		_ = l.opts.Clock.Wait(ctx, returned)
	}
	_ = l.turn.Close()
	if k == nil {
		return nil
	}
	return l.giveBack(ctx, k)
}

// undo gives back a lock whose reply was lost, or a place.
func (l *Locker) undo(ctx context.Context, err error, owner string) error {
	return lock.Undo(ctx, l.opts.Clock, err, func(ctx context.Context) error { return l.release(ctx, owner) })
}
