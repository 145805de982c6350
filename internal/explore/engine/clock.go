package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// timeline is the virtual time, and the timers that wait for it.
type timeline struct {
	now    time.Duration
	timers []*timer
	never  []*timer      // that no time would bring, but a fault may
	jumped time.Duration // clocks, all of them together
}

type timer struct {
	line    *timeline
	actor   *Actor
	at      time.Duration
	f       func()
	brief   bool // no longer than a moment
	stopped bool
}

// nextTimer returns the timer that will fire first.
func (l *timeline) nextTimer() *timer {
	var next *timer
	for _, t := range l.timers {
		if !t.actor.Paused() && !t.actor.Dead() && (next == nil || t.at < next.at) {
			next = t
		}
	}
	return next
}

// forget drops such timers.
func (l *timeline) forget(which func(*timer) bool) {
	l.timers, l.never = slices.DeleteFunc(l.timers, which), slices.DeleteFunc(l.never, which)
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
func (x *Execution) Clock(p *Process, moment time.Duration) lock.Clock {
	return virtualClock{x, p, moment}
}

// Now tells the time, and takes down for the state that it was asked.
func (c virtualClock) Now() time.Time {
	if t := c.x.running("Clock.Now"); t != nil {
		t.itsRound().looked, t.last = true, nil
		c.x.jot("Clock.Now")
	}
	c.x.look(c.process)
	return simredis.Date(c.x.now + c.process.ahead)
}

// AfterFunc implements lock.Clock.
func (c virtualClock) AfterFunc(d time.Duration, f func()) lock.Timer {
	t := &timer{line: &c.x.timeline, at: c.x.now + max(d, 0), f: f, brief: 0 < d && d <= c.moment}
	task := c.x.running("Clock.AfterFunc")
	if task == nil || c.process.dead {
		return t
	}
	t.actor = task.actor
	if c.x.journal != nil {
		c.x.jot("Clock.AfterFunc " + d.String())
	}
	switch {
	case d < Forever:
		task.last = t
		c.x.timers = append(c.x.timers, t)
	case c.x.left.Timeout > 0:
		c.x.never = append(c.x.never, t)
	}
	return t
}

// Go implements lock.Clock.
func (c virtualClock) Go(name string, f func()) {
	if t := c.x.running("Clock.Go"); t != nil && !c.process.dead {
		t.last = nil
		c.x.jot("Clock.Go")
		child := c.x.spawn(t.actor, name, f)
		child.parent, child.started, child.notified = t, t.round.number, t.notified
	}
}

// Wait implements lock.Clock.
func (c virtualClock) Wait(ctx context.Context, ch <-chan struct{}) error {
	t := c.x.running("Clock.Wait")
	if t == nil {
		return ErrBlind
	}
	c.x.timeless(ctx)
	c.x.jot("Clock.Wait")
	t.sleep, t.last = t.last, nil
	t.waiting, t.ctx, t.ch, t.err, t.taken = true, ctx, ch, nil, false
	if t.asleep() || t.isPaused() {
		t.apart = true
		c.x.recordPause(t)
	}
	if t.asleep() { // then the schedule ends it, not time
		c.x.forget(t.sleep.is)
		c.x.digest(t)
	}
	c.x.waiters = append(c.x.waiters, t)
	c.x.locate(t)
	helped := c.x.helped(t)
	if err := park(t); err != nil {
		return err
	}
	if helped && c.x.Cluster.OnNodes() {
		c.x.mergePast(c.process)
	}
	if t.waiting = false; !helped && (t.sleep == nil || !t.sleep.brief) {
		c.x.beginRound(t)
	}
	return t.err
}

// Stop implements lock.Timer.
func (t *timer) Stop() bool {
	if t.stopped {
		return false
	}
	t.stopped = true
	t.line.forget(t.is)
	return true
}

// fire runs a timer's function, once the execution settles.
func (x *machine) fire(t *timer) {
	t.Stop()
	x.spawn(t.actor, "timer", t.f)
}

// nextDue returns when the next timer fires or the next key expires; if nothing is due, some time later.
func (x *scheduler) nextDue() time.Duration {
	if x.TimerNext() {
		return x.nextTimer().at
	}
	return x.now + cmp.Or(x.Cluster.NextExpiry(), TTL+x.Ahead()) // by any clock
}

// pass lets time pass until then, firing timers as it goes.
func (x *machine) pass(then time.Duration) {
	for t := x.nextTimer(); t != nil && t.at <= then; t = x.nextTimer() {
		x.elapse(t.at)
		x.settle() // fires it
	}
	x.elapse(then)
}

func (x *machine) elapse(then time.Duration) {
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
