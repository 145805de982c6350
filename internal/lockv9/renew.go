package lockv9

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/util/lua"
)

// tenure is this process's time as holder. It has one renewal, and one owner at a time.
type tenure struct {
	claim
	renewal *lock.Renewal
	since   time.Time
	passes  int
	owner   string
	depth   int
}

// validity is how long the lock may be relied on, counted from before the first request for it. Clocks that run apart by up to a
// hundredth are allowed for, and Redis's expiries being a millisecond or so off.
func (l *Locker) validity() time.Duration { return l.opts.TTL - l.opts.TTL/100 - 2*time.Millisecond }

// begin starts the tenure of a lock just taken.
func (l *Locker) begin(owner string, c claim) {
	opts := l.opts.Options
	opts.TTL = l.validity() // the deadline by our clock
	renewal := lock.StartRenewal(opts, c.sent, func(ctx context.Context) error { return l.renew(ctx, c) })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tenure = &tenure{claim: c, renewal: renewal, since: c.sent, owner: owner, depth: 1}
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

// renew sets the expiry again, while a quorum agrees that the lock is ours.
func (l *Locker) renew(ctx context.Context, c claim) error {
	t, _ := l.vote(ctx, func(ctx context.Context, client redis.Cmdable) (bool, error) {
		reply, err := client.Eval(ctx, lua.CompareAndExtend, []string{l.opts.Key}, c.value, l.opts.TTL.Milliseconds()).Int()
		return reply == 1, err
	})
	switch {
	case t.yes >= l.quorum():
		return nil
	case t.no > len(l.nodes)-l.quorum():
		return lock.ErrNotOwner
	}
	return l.unavailable("EVAL compareAndExtend.lua", t)
}
