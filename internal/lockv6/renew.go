package lockv6

import (
	"context"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/rediserr"
	"lockstep/util/lua"
)

// tenure is one owner's time as holder, from its outermost Lock to its outermost Unlock. It has one renewal.
type tenure struct {
	renewal *lock.Renewal
	depth   int
}

// join counts one more lease of owner's; the first starts the renewal. The acquiring command was sent at sent, and Redis
// counted count: one, for a nested call, means that the outer call's lock had gone.
func (l *Locker) join(owner string, sent time.Time, count int) *lock.Renewal {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, nested := l.tenures[owner]
	if !nested {
		t = &tenure{renewal: lock.StartRenewal(l.opts, sent, func(ctx context.Context) error { return l.renew(ctx, owner) })}
		l.tenures[owner] = t
	} else if count == 1 {
		t.renewal.Lose()
	}
	t.depth++
	return t.renewal
}

// leave counts one lease less; the outermost stops the renewal.
func (l *Locker) leave(owner string) (outermost bool) {
	l.mu.Lock()
	t, held := l.tenures[owner]
	if held {
		t.depth--
		if t.depth > 0 {
			l.mu.Unlock()
			return false
		}
		delete(l.tenures, owner)
	}
	l.mu.Unlock()
	if held {
		t.renewal.Stop() // waits, so not under the mutex
	}
	return true
}

// undo gives back a lock whose reply was lost, unless an outer call holds it: that one's Unlock will.
func (l *Locker) undo(ctx context.Context, err error, owner string) error {
	l.mu.Lock()
	_, nested := l.tenures[owner]
	l.mu.Unlock()
	if nested {
		return err
	}
	return lock.Undo(ctx, l.opts.Clock, err, func(ctx context.Context) error { return l.unlock(ctx, owner, true) })
}

// renew sets the expiry again.
func (l *Locker) renew(ctx context.Context, owner string) error {
	reply, err := l.client.Eval(ctx, lua.UpdateExpireTime, []string{l.opts.Key}, owner, l.opts.TTL.Milliseconds()).Int()
	switch {
	case err != nil:
		return rediserr.Classify(ctx, "EVAL updateExpireTime.lua", err)
	case reply == 0:
		return lock.ErrNotOwner
	}
	return nil
}
