package lockv9

import (
	"context"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/util/lua"
)

// unlock ends the turn of its owner: it passes the lock along in this process, or gives it back.
func (l *Locker) unlock(ctx context.Context) error {
	t := l.tenure // nobody changes it but who has the turn
	if t == nil {
		l.endTurn(nil)
		return nil
	}
	if !t.renewal.Lost() && l.others() {
		if l.mayPass(t) {
			t.passes++
			if l.callNext() {
				return nil
			}
		}
		l.yield = true
	}
	l.end()
	defer l.endTurn(nil)
	return l.release(ctx, t.claim)
}

// mayPass reports whether the lock may be passed along in this process once more, whoever else waits.
func (l *Locker) mayPass(t *tenure) bool {
	return t.passes < l.opts.HandOffLimit && l.opts.Clock.Now().Sub(t.since) < maxTenure
}

// release gives a claim back on all nodes that were asked for it: one that did not answer may have agreed.
func (l *Locker) release(ctx context.Context, c claim) error {
	var anothers atomic.Int64
	t := l.ask(ctx, c.nodes, func(ctx context.Context, client redis.Cmdable) (bool, error) {
		reply, err := client.Eval(ctx, lua.CompareAndDelete, []string{l.opts.Key}, c.value).Int()
		if reply == -1 {
			anothers.Add(1)
		}
		return reply == 1, err
	})
	switch {
	case t.yes >= l.quorum():
		return nil
	case t.yes+t.failed >= l.quorum():
		return l.unavailable("EVAL compareAndDelete.lua", t)
	case int(anothers.Load()) >= l.quorum():
		return lock.ErrNotOwner
	}
	return lock.ErrExpired
}
