package engine

import (
	"context"
	"slices"
	"time"

	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

type timer struct {
	x       *Execution
	actor   *Actor
	at      time.Duration
	f       func()
	brief   bool // no longer than a moment
	stopped bool
}

// timers are those that are set, in the order in which they were.
type timers []*timer

// next returns the timer that will fire first, nil if there is none.
func (all timers) next() *timer {
	var next *timer
	for _, t := range all {
		if !t.actor.Paused() && !t.actor.Dead() && (next == nil || t.at < next.at) {
			next = t
		}
	}
	return next
}

// forget drops such timers.
func (x *Execution) forget(which func(*timer) bool) {
	x.timers, x.never = slices.DeleteFunc(x.timers, which), slices.DeleteFunc(x.never, which)
}

func (t *timer) is(other *timer) bool { return t == other }

// virtualClock is the lock.Clock of one process.
type virtualClock struct {
	x       *Execution
	process *Process
	moment  time.Duration
}

// Clock returns the clock of a process. A sleep of at most a moment ends whenever the schedule says so, without time moving: commands take
// a while too, so no order of them is excluded by so short a pause.
func (p *Process) Clock(moment time.Duration) lock.Clock { return virtualClock{p.x, p, moment} }

// Now tells the time, and takes down for the state that it was asked.
func (c virtualClock) Now() time.Time {
	if t := c.x.running("Clock.Now"); t != nil {
		t.itsRound().looked, t.last = true, nil
		c.x.Journal.jot("Clock.Now")
	}
	c.process.look()
	return simredis.Date(c.x.now + c.process.ahead)
}

// AfterFunc implements lock.Clock.
func (c virtualClock) AfterFunc(d time.Duration, f func()) lock.Timer {
	t := &timer{x: c.x, at: c.x.now + max(d, 0), f: f, brief: 0 < d && d <= c.moment}
	task := c.x.running("Clock.AfterFunc")
	if task == nil || c.process.dead {
		return t
	}
	t.actor = task.actor
	if c.x.Journal != nil {
		c.x.Journal.jot("Clock.AfterFunc " + d.String())
	}
	switch {
	case d < Forever:
		task.last = t
		c.x.timers = append(c.x.timers, t)
	case c.x.left[fault.Timeout] > 0:
		c.x.never = append(c.x.never, t)
	}
	return t
}

// Go implements lock.Clock.
func (c virtualClock) Go(name string, f func()) {
	if t := c.x.running("Clock.Go"); t != nil && !c.process.dead {
		t.last = nil
		c.x.Journal.jot("Clock.Go")
		child := t.actor.spawn(name, f)
		child.parent, child.started, child.notified = t, t.round.number, t.notified
	}
}

// Wait implements lock.Clock.
func (c virtualClock) Wait(ctx context.Context, ch <-chan struct{}) error {
	t := c.x.running("Clock.Wait")
	if t == nil {
		return ErrBlind
	}
	if err := checkTimeless(ctx); err != nil {
		c.x.Fail(err)
	}
	c.x.Journal.jot("Clock.Wait")
	t.sleep, t.last = t.last, nil
	t.waiting, t.ctx, t.ch, t.err, t.taken = true, ctx, ch, nil, false
	if t.asleep() || t.isPaused() {
		t.apart = true
		t.recordPause()
	}
	if t.asleep() { // then the schedule ends it, not time
		c.x.forget(t.sleep.is)
		t.digest()
	}
	c.x.waiters = append(c.x.waiters, t)
	t.locate()
	helped := t.helped()
	if err := park(t); err != nil {
		return err
	}
	if helped && c.x.Cluster.OnNodes() {
		c.process.mergePast()
	}
	if t.waiting = false; !helped && (t.sleep == nil || !t.sleep.brief) {
		t.beginRound()
	}
	return t.err
}

// Stop implements lock.Timer.
func (t *timer) Stop() bool {
	if t.stopped {
		return false
	}
	t.stopped = true
	t.x.forget(t.is)
	return true
}

// fire runs a timer's function, once the execution settles.
func (t *timer) fire() {
	t.Stop()
	t.actor.spawn("timer", t.f)
}

// pass lets time pass until then, firing timers as it goes.
func (x *Execution) pass(then time.Duration) {
	for t := x.timers.next(); t != nil && t.at <= then; t = x.timers.next() {
		x.elapse(t.at)
		x.settle() // fires it
	}
	x.elapse(then)
}

func (x *Execution) elapse(then time.Duration) {
	if then <= x.now {
		return
	}
	d := then - x.now
	x.now = then
	for _, s := range x.Cluster.Servers() {
		next, err := x.Cluster.After(s, d)
		if err != nil {
			x.Fail(err)
			return
		}
		x.becomes(s, next, nil)
		if err := x.Cluster.AgeReplica(s, d); err != nil {
			x.Fail(err)
		}
	}
}
