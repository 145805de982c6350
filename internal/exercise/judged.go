package exercise

import (
	"context"
	"errors"
	"strings"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// judged returns the lock that a learner wrote, as the claim has it: whom it excludes is not the learner's to say, and when its sale writes
// only where that is the cure.
func (e Exercise) judged(s strategy.Strategy, in explore.Scenario) strategy.Strategy {
	update := strategy.ReadModifyWrite
	if e.choosesUpdate() {
		update = s.Update
	}
	made := s.New
	switch {
	case e.Name == "endless-renewal":
		made = func(p strategy.Parts) lock.Locker { return relayed{s.New(p), detached, p.Clock} }
	case e.Name == "untold":
		made = func(p strategy.Parts) lock.Locker {
			p.Clock = timing{p.Clock}
			return relayed{s.New(p), untilLost, p.Clock}
		}
	case e.Name == "lost-reply" && in.Nested > 0 && in.Faults == explore.Faults{}:
		made = func(p strategy.Parts) lock.Locker { return &nesting{Locker: s.New(p), held: map[string]bool{}} }
	case e.Name == "blind-renewal" && in.Actors == 1:
		made = func(p strategy.Parts) lock.Locker { return &removed{Locker: s.New(p), parts: p} }
	case e.Name == "starvation" && in.Sales > 1:
		made = func(p strategy.Parts) lock.Locker { return regular{s.New(p)} }
	case e.Name == "kept-lock" && in.Actors == 1:
		made = func(p strategy.Parts) lock.Locker { return &keeping{Locker: s.New(p), parts: p} }
	}
	return strategy.Strategy{Name: e.Name, OnNodes: in.Nodes > 0, Update: update, New: made}
}

// choosesUpdate reports whether the cure may be another way to update the stock.
func (e Exercise) choosesUpdate() bool {
	return e.Name == "late-commit" || e.Name == "without-a-lock" || e.Name == "sent-twice"
}

// relayed is a lock whose leases have another context than the learner's lock gave them.
type relayed struct {
	lock.Locker

	work  func(request, lease context.Context) context.Context
	clock lock.Clock
}

// Lock implements lock.Locker.
func (r relayed) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	lease, err := r.Locker.Lock(ctx, owner)
	return r.relay(ctx, lease), err
}

// TryLock implements lock.Locker.
func (r relayed) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	lease, err := r.Locker.TryLock(ctx, owner)
	return r.relay(ctx, lease), err
}

func (r relayed) relay(request context.Context, l *lock.Lease) *lock.Lease {
	if l == nil {
		return nil
	}
	return lock.NewLease(r.work(request, l.Context()), r.clock, l.Token(), l.Unlock)
}

// detached is for sales that finish their work, whatever becomes of their request.
func detached(_, lease context.Context) context.Context { return context.WithoutCancel(lease) }

// untilLost is for sales that stop for two reasons: their request has ended, or their lock is lost, and the context says so.
func untilLost(request, lease context.Context) context.Context { return lossContext{lease, request} }

type lossContext struct {
	context.Context //nolint:containedctx // it is a context itself

	request context.Context //nolint:containedctx // whose end it also has
}

// Err is nil if the context has ended for another reason.
func (c lossContext) Err() error {
	if c.request.Err() != nil || errors.Is(context.Cause(c.Context), lock.ErrLost) {
		return c.Context.Err()
	}
	return nil
}

// timing is a clock with a goroutine for each timer that is set: one that is not stopped outlives its sale.
type timing struct{ lock.Clock }

// AfterFunc implements lock.Clock.
func (c timing) AfterFunc(d time.Duration, f func()) lock.Timer {
	over := make(chan struct{})
	c.Go("timer", func() { _ = c.Wait(context.Background(), over) })
	timer := c.Clock.AfterFunc(d, func() {
		close(over)
		f()
	})
	return timed{timer, over}
}

type timed struct {
	lock.Timer

	over chan struct{}
}

// Stop implements lock.Timer.
func (t timed) Stop() bool {
	stopped := t.Timer.Stop()
	if stopped {
		close(t.over)
	}
	return stopped
}

// errNotKept is why a sale fails of a process that is alone, and has given the lock back.
var errNotKept = errors.New("the process has not kept the lock for its next sale")

// keeping is the lock of a process that is alone: nobody else asks, so it has to keep the lock from its first sale on.
type keeping struct {
	lock.Locker

	parts strategy.Parts
	sold  bool
}

// Lock implements lock.Locker.
func (k *keeping) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	if k.sold {
		held, err := k.parts.Client.Exists(ctx, k.parts.Key).Result()
		if err == nil && held == 0 {
			return nil, errNotKept
		}
	}
	lease, err := k.Locker.Lock(ctx, owner)
	k.sold = k.sold || err == nil
	return lease, err
}

// nesting is a lock whose holders make one more nested call, of a client that has gone away: it fails before it asks Redis, and its caller
// goes on.
type nesting struct {
	lock.Locker

	held map[string]bool // by owners
}

// Lock implements lock.Locker.
func (n *nesting) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	lease, err := n.Locker.Lock(ctx, owner)
	if err != nil || n.held[owner] {
		return lease, err
	}
	n.held[owner] = true
	gone, goAway := context.WithCancel(ctx)
	goAway()
	if inner, err := n.TryLock(gone, owner); err == nil {
		_ = inner.Unlock(ctx) // it has counted without Redis
	}
	return lease, nil
}

// removed is a lock that somebody removes by hand while it is held by a sale that is not the first.
type removed struct {
	lock.Locker

	parts strategy.Parts
	sold  bool
}

const remove = `-- operator: removes the lock, whosever it is
return redis.call('DEL', KEYS[1])`

// Lock implements lock.Locker.
func (r *removed) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	lease, err := r.Locker.Lock(ctx, owner)
	if err != nil {
		return nil, err
	}
	if r.sold {
		r.parts.Clock.Go("operator", func() {
			if lock.Sleep(context.Background(), r.parts.Clock, r.parts.TTL/10) == nil {
				_ = r.parts.Client.Eval(context.Background(), remove, []string{r.parts.Key}).Err()
			}
		})
	}
	r.sold = true
	return lease, nil
}

// regular is a lock for one buyer who comes again and again, and others who come once: there are few schedules of that.
type regular struct{ lock.Locker }

var errOnce = errors.New("this buyer comes once")

// Lock implements lock.Locker. An owner is named after its buyer, A or B, and a number from the second sale on.
func (r regular) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	if sale := strings.TrimPrefix(owner, lock.Owner("")); len(sale) > 1 && sale[0] != 'A' {
		return nil, errOnce
	}
	return r.Locker.Lock(ctx, owner)
}
