package explore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/judge"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// driver tells a run's judge what happens, and answers it. It implements judge.Driver and engine.Judge.
type driver struct{ *Run }

// Now implements judge.Driver.
func (d driver) Now() time.Duration { return d.Engine.Now() }

// Contents implements judge.Driver.
func (d driver) Contents() []*simredis.State { return d.Engine.Cluster.Contents() }

// Past implements judge.Driver.
func (d driver) Past() judge.Past {
	d.past.Faulted, d.past.SoldOut = d.Engine.Faulted, stockOf(d.Engine.Cluster.MainState(), 0) == "0"
	return d.past
}

// Changed implements engine.Judge.
func (d driver) Changed(s *simredis.Server, before *simredis.State, by *engine.Actor) {
	actor := -1
	if by != nil {
		actor = by.Index
	}
	d.judge.Change(judge.Change{Server: s.Index, Before: before, After: s.State, Lags: s.Standby != nil}, actor)
}

// RecordOrders implements engine.Judge.
func (d driver) RecordOrders(before, next *simredis.State) (*simredis.State, error) {
	l, err := d.harness.readLedger(next)
	for _, order := range l.news {
		d.judge.Book(order, hasOrder(before, order.ID), stockOf(before, order.Segment))
	}
	return l.rest, err
}

// AppendState implements engine.Judge. How long somebody has waited though nobody living had the lock matters up to mayWait.
func (d driver) AppendState(b []byte, o engine.Order) []byte {
	b = d.judge.AppendState(b, judge.Order{Actors: o.Actors, Places: o.Places})
	return strconv.AppendInt(append(b, '|'), int64(min(d.Engine.Now()-d.idleSince, mayWait)), 10)
}

// AppendActor implements engine.Judge.
func (d driver) AppendActor(b []byte, actor int) []byte { return d.judge.AppendActor(b, actor) }

// AppendServer implements engine.Judge.
func (d driver) AppendServer(b []byte, server int, o engine.Order) []byte {
	return d.judge.AppendServer(b, server, judge.Order{Actors: o.Actors, Places: o.Places})
}

// setup is what the judge begins with.
func (d driver) setup() judge.Setup {
	s, of := d.Engine.Scenario, d.harness.strategy
	setup := judge.Setup{
		Driver: d, Key: lock.Key, Scope: of.Scope, OnNodes: d.Engine.Cluster.OnNodes(), Within: s.FreedWithin,
	}
	if of.Update == strategy.Segmented { // each segment has a lock of its own, so nobody is kept from another one
		setup.Scope = strategy.Nobody
	}
	if d.harness.options.Starved {
		setup.Overtakes = s.MaxOvertakes()
	}
	for _, a := range d.Engine.Actors() {
		setup.Actors = append(setup.Actors, judge.Actor{Name: a.Name, Process: a.Process.Name, Once: a.TriesOnce(), Life: a})
	}
	return setup
}

var errNoLease = errors.New("the lock gives neither a lease nor an error")

// watchedLock is an actor's lock, which tells the judge when it enters and leaves.
type watchedLock struct {
	run   *Run
	actor *engine.Actor
	lock  lock.Locker
}

// Lock implements lock.Locker. An actor that is to try once does.
func (l watchedLock) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	c, actor, take := l.run.judge, l.actor.Index, l.lock.Lock
	if l.actor.TriesOnce() && !c.Sale(actor).HasLease() {
		take = l.lock.TryLock
	}
	c.Ask(actor, owner)
	l.run.Engine.BeginRound()
	lease, err := take(ctx, owner)
	if err == nil && lease == nil {
		if err = fmt.Errorf("%s: %w", l.actor.Name, errNoLease); !l.actor.Dead() {
			l.run.Engine.Fail(err)
		}
	}
	if err != nil {
		c.Refuse(actor, err, ctx.Err() != nil)
		return nil, err
	}
	c.Enter(actor, watchedLease{lease})
	leave := sync.OnceValue(func() bool { return c.BeginUnlock(actor) }) // a failed Unlock may be tried again
	return lease.With(func(ctx context.Context) error {
		outermost := leave()
		err := lease.Unlock(ctx)
		c.EndUnlock(actor, outermost, err)
		return err
	}), nil
}

// watchedLease is a lease, as the judge sees it.
type watchedLease struct{ *lock.Lease }

// Token implements judge.Lease.
func (l watchedLease) Token() (token int64, ok bool) { return l.Lease.Token(), l.Lease.Token() > 0 }

// IsLost implements judge.Lease.
func (l watchedLease) IsLost() bool { return errors.Is(context.Cause(l.Context()), lock.ErrLost) }

// IsOver implements judge.Lease.
func (l watchedLease) IsOver() bool { return l.Context().Err() != nil }

// TryLock implements lock.Locker.
func (l watchedLock) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	return l.Lock(ctx, owner)
}
