package lockv7

import (
	"context"
	"errors"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/rediserr"
	"lockstep/util/lua"
)

// errKept means that the lock is still this process's, which needs it, while no other does.
var errKept = errors.New("the lock is kept")

// unlock ends the turn of its owner: it passes the lock along in this process, or hands it to the next one.
func (l *Locker) unlock(ctx context.Context) error {
	t := l.tenure // nobody changes it but who has the turn
	if t == nil {
		l.endTurn(ctx, nil)
		return nil
	}
	if !t.renewal.Lost() && l.others() {
		if !l.mayPass(t) {
			err := l.release(ctx, l.opts.TTL)
			if !errors.Is(err, errKept) {
				l.end()
				l.endTurn(ctx, nil)
				return err
			}
			t.passes, t.most, t.since = 0, l.opts.HandOffLimit, l.opts.Clock.Now()
		}
		t.passes++
		if l.callNext() {
			return nil
		}
	}
	l.end()
	defer l.endTurn(ctx, nil)
	return l.release(ctx, 0)
}

// releaseAgain is for an Unlock that failed for want of Redis. By now the lock may serve another sale of this process.
func (l *Locker) releaseAgain(ctx context.Context) error {
	if !l.tryTurn() {
		return nil
	}
	defer l.endTurn(ctx, nil)
	return l.release(ctx, 0)
}

// mayPass reports whether the lock may be passed along in this process once more, whoever else waits.
func (l *Locker) mayPass(t *tenure) bool {
	return t.passes < t.most && l.opts.Clock.Now().Sub(t.since) < maxTenure
}

// release gives the lock back. If it is to be kept as long as nobody else waits, and nobody does, it fails with errKept, and the lock
// has that expiry again.
func (l *Locker) release(ctx context.Context, keep time.Duration) error {
	reply, err := l.client.Eval(ctx, lua.Release, l.keys(),
		l.process, l.claim, l.channels(), keep.Milliseconds()).Int()
	switch {
	case err != nil:
		return rediserr.Classify(ctx, "EVAL release.lua", err)
	case reply == 30:
		return lock.ErrExpired
	case reply == 10:
		return lock.ErrNotOwner
	case reply == 20:
		return errKept
	}
	return nil
}
