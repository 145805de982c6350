package exercise

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// prepare returns the learner's lock as the exercise explores it. It keeps the strategy's New, and in exercises whose cure may be another
// update or check also Update or Check. In some exercises it wraps the lock, to provoke the flaw.
func (e Exercise) prepare(s strategy.Strategy, scenario explore.Scenario) strategy.Strategy {
	update := strategy.ReadModifyWrite
	if e.choosesUpdate() {
		update = s.Update
	}
	check := ""
	if e.Name == "fence" {
		check = cmp.Or(s.Check, admitAll)
	}
	newLocker := s.New
	switch {
	case e.Name == "endless-renewal":
		newLocker = func(p strategy.Parts) lock.Locker { return contextLock{s.New(p), withoutCancel, p.Clock} }
	case e.Name == "untold":
		newLocker = func(p strategy.Parts) lock.Locker {
			p.Clock = leakClock{p.Clock}
			return contextLock{s.New(p), endsOnLoss, p.Clock}
		}
	case e.Name == "lost-reply" && scenario.Nested > 0 && scenario.Faults == explore.Faults{}:
		newLocker = func(p strategy.Parts) lock.Locker { return &nestingLock{Locker: s.New(p), held: map[string]bool{}} }
	case e.Name == "blind-renewal" && scenario.Actors == 1:
		newLocker = func(p strategy.Parts) lock.Locker { return &removedLock{Locker: s.New(p), parts: p} }
	case e.Name == "starvation" && scenario.Sales > 1:
		newLocker = func(p strategy.Parts) lock.Locker { return regularBuyerLock{s.New(p)} }
	case e.Name == "kept-lock" && scenario.Actors == 1:
		newLocker = func(p strategy.Parts) lock.Locker { return &keptLock{Locker: s.New(p), parts: p} }
	}
	return strategy.Strategy{Name: e.Name, OnNodes: scenario.Nodes > 0, Update: update, Check: check, New: newLocker}
}

// admitAll is the store's check if the learner has not written a check.
const admitAll = "return true"

// choosesUpdate reports whether the cure may be another update of the stock.
func (e Exercise) choosesUpdate() bool {
	return e.Name == "late-commit" || e.Name == "without-a-lock" || e.Name == "sent-twice"
}

// contextLock wraps the learner's lock, and replaces the contexts of its leases.
type contextLock struct {
	lock.Locker

	workContext func(request, lease context.Context) context.Context // makes the context in which the sale works
	clock       lock.Clock
}

// Lock implements lock.Locker.
func (c contextLock) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	lease, err := c.Locker.Lock(ctx, owner)
	return c.wrapLease(ctx, lease), err
}

// TryLock implements lock.Locker.
func (c contextLock) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	lease, err := c.Locker.TryLock(ctx, owner)
	return c.wrapLease(ctx, lease), err
}

// wrapLease returns a lease with the replaced context; nil for nil.
func (c contextLock) wrapLease(request context.Context, l *lock.Lease) *lock.Lease {
	if l == nil {
		return nil
	}
	return lock.NewLease(c.workContext(request, l.Context()), c.clock, l.Token(), l.Unlock)
}

// withoutCancel is a workContext under which sales finish even if the request or the lease ends.
func withoutCancel(_, lease context.Context) context.Context { return context.WithoutCancel(lease) }

// endsOnLoss is a workContext under which sales stop only if their request ends, or the lease ends because the lock is lost.
func endsOnLoss(request, lease context.Context) context.Context { return lossContext{lease, request} }

// lossContext is the context of a lease that ignores every end of the lease but ErrLost.
type lossContext struct {
	context.Context //nolint:containedctx // It implements context.Context.

	request context.Context //nolint:containedctx // context of the request, whose end also counts
}

// Err implements context.Context. It returns nil if the lease has ended for another reason.
func (c lossContext) Err() error {
	if c.request.Err() != nil || errors.Is(context.Cause(c.Context), lock.ErrLost) {
		return c.Context.Err()
	}
	return nil
}

// IgnoredCause returns the cause of the lease's end, if it is not ErrLost; otherwise nil. The explorer shows the cause.
func (c lossContext) IgnoredCause() error {
	if c.Err() == nil {
		return context.Cause(c.Context)
	}
	return nil
}

// leakClock is a clock with a goroutine for each timer, so that a timer that is not stopped shows as a goroutine leak.
type leakClock struct{ lock.Clock }

// AfterFunc implements lock.Clock.
func (c leakClock) AfterFunc(d time.Duration, f func()) lock.Timer {
	done := make(chan struct{})
	c.Go("timer", func() { _ = c.Wait(context.Background(), done) })
	timer := c.Clock.AfterFunc(d, func() {
		close(done)
		f()
	})
	return leakTimer{timer, done}
}

// leakTimer is a timer of a leakClock.
type leakTimer struct {
	lock.Timer

	done chan struct{} // closed when the timer has fired or is stopped
}

// Stop implements lock.Timer.
func (t leakTimer) Stop() bool {
	stopped := t.Timer.Stop()
	if stopped {
		close(t.done)
	}
	return stopped
}

// errNotKept is returned to the next sale of a process that has released the lock although no other process wants it.
var errNotKept = language.Translate(errors.New("the process has not kept the lock for its next sale"), "进程没有把锁留给自己的下一单")

// keptLock wraps the learner's lock in a scenario with one process. It fails if the process does not keep the lock in Redis from its first
// sale on.
type keptLock struct {
	lock.Locker

	parts    strategy.Parts
	obtained bool // a sale has obtained the lock
}

// Lock implements lock.Locker.
func (k *keptLock) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	if k.obtained {
		held, err := k.parts.Client.Exists(ctx, k.parts.Key).Result()
		if err == nil && held == 0 {
			return nil, errNotKept
		}
	}
	lease, err := k.Locker.Lock(ctx, owner)
	k.obtained = k.obtained || err == nil
	return lease, err
}

// nestingLock wraps the learner's lock. Its holders make one more nested call, with a canceled context. That call fails before it sends a
// command, and the holder continues.
type nestingLock struct {
	lock.Locker

	held map[string]bool // owners that have obtained the lock
}

// Lock implements lock.Locker.
func (n *nestingLock) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	lease, err := n.Locker.Lock(ctx, owner)
	if err != nil || n.held[owner] {
		return lease, err
	}
	n.held[owner] = true
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if inner, err := n.TryLock(canceled, owner); err == nil {
		_ = inner.Unlock(ctx) // The lock has counted the call without Redis.
	}
	return lease, nil
}

// removedLock wraps the learner's lock. An operator deletes the lock from Redis while the second or a later sale holds it.
type removedLock struct {
	lock.Locker

	parts    strategy.Parts
	obtained bool // a sale has obtained the lock
}

// removeScript is the script with which the operator deletes the lock.
const removeScript = `-- operator: removes the lock, whosever it is
return redis.call('DEL', KEYS[1])`

// Lock implements lock.Locker.
func (r *removedLock) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	lease, err := r.Locker.Lock(ctx, owner)
	if err != nil {
		return nil, err
	}
	if r.obtained {
		r.parts.Clock.Go("operator", func() {
			if lock.Sleep(context.Background(), r.parts.Clock, r.parts.TTL/10) == nil {
				_ = r.parts.Client.Eval(context.Background(), removeScript, []string{r.parts.Key}).Err()
			}
		})
	}
	r.obtained = true
	return lease, nil
}

// regularBuyerLock wraps the learner's lock. It lets only buyer A come more than once, which keeps the number of schedules small.
type regularBuyerLock struct{ lock.Locker }

// errOnce is returned to the second sale of a buyer other than A.
var errOnce = language.Translate(errors.New("this buyer comes once"), "这个买家只来一次")

// Lock implements lock.Locker. An owner is named after its buyer, A or B, and a number from the second sale on.
func (r regularBuyerLock) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	if sale := strings.TrimPrefix(owner, lock.Owner("")); len(sale) > 1 && sale[0] != 'A' {
		return nil, errOnce
	}
	return r.Locker.Lock(ctx, owner)
}
