package lockv11

import (
	"context"
	"time"

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

// tryKeep keeps the lock for the next sale, or reports false if another process may wait for it, or it is about to expire.
func (l *Locker) tryKeep(k keptLock) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wanted || l.unsubscribe == nil || !l.isFresh(k.sent) {
		return false
	}
	l.kept = &k
	return true
}

// takeKept removes and returns the kept lock, nil if there is none. The first call subscribes to the messages of others that want the lock.
func (l *Locker) takeKept() *keptLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unsubscribe == nil {
		l.unsubscribe = l.opts.Notifier.Subscribe(l.wantedPrefix()+lock.Owner(l.opts.Process), l.onWanted)
	}
	k := l.kept
	l.kept = nil
	return k
}

// setWanted records whether another process may have asked for the lock.
func (l *Locker) setWanted(wanted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wanted = wanted
}

// onWanted handles a message that another process wants the lock, or may want it: a kept lock is released at once, and one in use is not
// kept.
func (l *Locker) onWanted(string) {
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

// giveBack releases a lock that was kept.
func (l *Locker) giveBack(ctx context.Context, k *keptLock) error {
	return lock.WithDetachedTimeout(ctx, l.opts.Clock, func(ctx context.Context) error { return l.release(ctx, k.owner) })
}

// isFresh reports whether the lock has at least half of its expiry left.
func (l *Locker) isFresh(sent time.Time) bool { return l.opts.Clock.Now().Sub(sent) < l.opts.TTL/2 }

// Close releases the kept lock, waits for one that is being released, and ends the subscriptions; see lock.Closer.
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

// undo gives up the lock, or the place in the queue, that a command with a lost reply may have obtained.
func (l *Locker) undo(ctx context.Context, err error, owner string) error {
	return lock.Undo(ctx, l.opts.Clock, err, func(ctx context.Context) error { return l.release(ctx, owner) })
}
