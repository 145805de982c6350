package lockv8

import (
	"context"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/rediserr"
	"lockstep/util/lua"
)

// tenure is this process's time as holder. It has one renewal, and one owner at a time.
type tenure struct {
	renewal *lock.Renewal
	token   int64 // the first; each sale that it is passed to has the next one
	since   time.Time
	passes  int // how often the lock was passed along
	most    int // how often it may be before another process
	owner   string
	depth   int
}

// fence is the token of the sale that has the lock.
func (t *tenure) fence() int64 { return t.token + int64(t.passes) }

// tokens is how many a tenure may need, before Redis is asked again: for each pass, the sale before the first, and the one that may
// follow when the lock is kept.
func (l *Locker) tokens() int { return l.opts.HandOffLimit + 2 }

// begin starts the tenure of a lock just taken; the command was sent at sent.
func (l *Locker) begin(owner string, token int64, sent time.Time) {
	renewal := lock.StartRenewal(l.opts.Options, sent, l.renew)
	l.mu.Lock()
	defer l.mu.Unlock()
	most := min(l.opts.HandOffLimit, rounds*(1+len(l.line)))
	l.tenure = &tenure{renewal: renewal, token: token, since: l.opts.Clock.Now(), most: most, owner: owner, depth: 1}
}

// passedTo makes owner the next one of the tenure that is on, if there is one.
func (l *Locker) passedTo(owner string) bool {
	if l.tenure != nil && l.tenure.renewal.Lost() {
		l.end()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tenure == nil {
		return false
	}
	l.tenure.owner, l.tenure.depth = owner, 1
	return true
}

// again counts a nested call of the owner that has the lock.
func (l *Locker) again(owner string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tenure == nil || l.tenure.depth == 0 || l.tenure.owner != owner {
		return false
	}
	l.tenure.depth++
	return true
}

// leave counts one lease less, and reports whether it was the outermost. It fails with ErrExpired if the lock was lost.
func (l *Locker) leave() (outermost bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tenure.depth--
	if l.tenure.renewal.Lost() {
		err = lock.ErrExpired
	}
	return l.tenure.depth == 0, err
}

// end ends the tenure.
func (l *Locker) end() {
	l.mu.Lock()
	t := l.tenure
	l.tenure = nil
	l.mu.Unlock()
	t.renewal.Stop() // waits, so not under the mutex
}

// renew sets the expiry again.
func (l *Locker) renew(ctx context.Context) error {
	reply, err := l.client.Eval(ctx, lua.UpdateExpireTime, []string{l.opts.Key}, l.process, l.opts.TTL.Milliseconds()).Int()
	switch {
	case err != nil:
		return rediserr.Classify(ctx, "EVAL updateExpireTime.lua", err)
	case reply == 0:
		return lock.ErrNotOwner
	}
	return nil
}
