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
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// judgeDriver connects a run's execution with its judge. It implements judge.Driver and engine.Judge.
type judgeDriver struct{ *Run }

// Now returns the virtual time since the start, for judge.Driver.
func (d judgeDriver) Now() time.Duration { return d.Engine.Now() }

// Contents returns the current contents of each server, for judge.Driver.
func (d judgeDriver) Contents() []*simredis.State { return d.Engine.Cluster.Contents() }

// Excuses returns the events so far that excuse behavior, for judge.Driver.
func (d judgeDriver) Excuses() judge.Excuses {
	d.excuses.FaultHappened = d.Engine.Faulted
	d.excuses.SoldOut = stockOf(d.Engine.Cluster.MainState(), 0) == "0"
	return d.excuses
}

// OnChange passes a change of a server's contents on to the judge, for engine.Judge.
func (d judgeDriver) OnChange(s *simredis.Server, before *simredis.State, by *engine.Actor) {
	actor := -1
	if by != nil {
		actor = by.Index
	}
	d.judge.RecordChange(judge.Change{Server: s.Index, Before: before, After: s.State, ReplicaLags: s.Standby != nil}, actor)
}

// RecordOrders passes new orders in the ledger on to the judge, for engine.Judge. It returns the contents with each order reduced to its
// owner.
func (d judgeDriver) RecordOrders(before, next *simredis.State) (*simredis.State, error) {
	l, err := d.harness.readLedger(next)
	for _, order := range l.newOrders {
		d.judge.RecordOrder(order, hasOrder(before, order.ID), stockOf(before, order.Segment))
	}
	return l.reduced, err
}

// AppendState appends the judge's state, for engine.Judge. It also appends how long an actor has waited although no live process held the
// lock; beyond maxIdle, the exact time makes no difference.
func (d judgeDriver) AppendState(b []byte, o engine.Order) []byte {
	b = d.judge.AppendState(b, judge.ActorOrder{Actors: o.Actors, Labels: o.Places})
	return strconv.AppendInt(append(b, '|'), int64(min(d.Engine.Now()-d.idleSince, maxIdle)), 10)
}

// AppendActor appends the judge's knowledge about one actor, for engine.Judge.
func (d judgeDriver) AppendActor(b []byte, actor int) []byte { return d.judge.AppendActor(b, actor) }

// AppendServer appends the judge's knowledge about one server, for engine.Judge.
func (d judgeDriver) AppendServer(b []byte, server int, o engine.Order) []byte {
	return d.judge.AppendServer(b, server, judge.ActorOrder{Actors: o.Actors, Labels: o.Places})
}

// setup returns the judge's configuration.
func (d judgeDriver) setup() judge.Setup {
	scenario, s := d.Engine.Scenario, d.harness.strategy
	setup := judge.Setup{
		Driver: d, Key: lock.Key, Scope: s.Scope, OnNodes: d.Engine.Cluster.OnNodes(), FreeWithin: scenario.FreedWithin,
	}
	if s.Update == strategy.Segmented { // the lock of one segment does not keep anybody out of another segment
		setup.Scope = strategy.Nobody
	}
	if d.harness.options.Starvation {
		setup.MaxOvertakes = scenario.MaxOvertakes()
	}
	for _, a := range d.Engine.Actors() {
		setup.Actors = append(setup.Actors, judge.Actor{Name: a.Name, Process: a.Process.Name, TriesOnce: a.TriesOnce(), ActorState: a})
	}
	return setup
}

// errNoLease ends an exploration whose lock breaks the contract of lock.Locker.
var errNoLease = errors.New("the lock returned neither a lease nor an error")

// observedLock is an actor's lock. It reports every Lock and Unlock to the judge.
type observedLock struct {
	run   *Run          // run whose judge gets the reports
	actor *engine.Actor // actor that uses the lock
	lock  lock.Locker   // the lock itself
}

// Lock obtains the lock and reports to the judge. For an actor that tries only once it calls TryLock instead, except in a nested call.
func (l observedLock) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	j, actor := l.run.judge, l.actor.Index
	acquire := l.lock.Lock
	if l.actor.TriesOnce() && !j.Sale(actor).HasLease() {
		acquire = l.lock.TryLock
	}
	j.RecordAsk(actor, owner)
	l.run.Engine.BeginRound()
	lease, err := acquire(ctx, owner)
	if err == nil && lease == nil {
		err = language.Translate(fmt.Errorf("%s: %w", l.actor.Name, errNoLease), "%s 的加锁既没有返回 lease，也没有返回错误", l.actor.Name)
		if !l.actor.Dead() {
			l.run.Engine.Fail(err)
		}
	}
	if err != nil {
		j.RecordRefusal(actor, err, ctx.Err() != nil)
		return nil, err
	}
	j.RecordEntry(actor, observedLease{lease})
	startUnlock := sync.OnceValue(func() bool { return j.RecordUnlockStart(actor) }) // a failed Unlock may be repeated
	return lease.WithUnlock(func(ctx context.Context) error {
		outermost := startUnlock()
		err := lease.Unlock(ctx)
		j.RecordUnlockEnd(actor, outermost, err)
		return err
	}), nil
}

// TryLock is the same as Lock, which knows whether the actor tries only once.
func (l observedLock) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	return l.Lock(ctx, owner)
}

// observedLease is a lease as the judge sees it.
type observedLease struct{ *lock.Lease }

// Token returns the fencing token; ok is false if the lock has none.
func (l observedLease) Token() (token int64, ok bool) { return l.Lease.Token(), l.Lease.Token() > 0 }

// IsLost reports whether the lease's context has ended because the lock was lost.
func (l observedLease) IsLost() bool { return errors.Is(context.Cause(l.Context()), lock.ErrLost) }

// IsEnded reports whether the lease's context has ended, for any reason.
func (l observedLease) IsEnded() bool { return l.Context().Err() != nil }

// IgnoredCause returns the cause of the end of the lease's context, if the sale cannot see that end; otherwise nil. A lock that wraps
// another may hide the end from the sale; the context then has a method IgnoredCause.
func (l observedLease) IgnoredCause() error {
	if hiding, ok := l.Context().(interface{ IgnoredCause() error }); ok {
		return hiding.IgnoredCause()
	}
	return nil
}
