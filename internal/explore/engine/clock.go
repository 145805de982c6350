package engine

import (
	"context"
	"slices"
	"time"

	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// timer is a lock.Timer: it runs its callback in a task of the actor that set it.
type timer struct {
	x        *Execution
	actor    *Actor        // actor whose task has set it
	dueAt    time.Duration // virtual time at which the timer fires
	callback func()        // function to run in a new task
	isBrief  bool          // the timer is at most virtualClock.moment long, so the schedule fires it, and not time
	stopped  bool          // Stop was called, or the timer has fired
}

// timers are timers in the order in which they were set.
type timers []*timer

// earliest returns the timer that fires first, leaving out those of paused and dead processes; nil if there is none.
func (all timers) earliest() *timer {
	var next *timer
	for _, t := range all {
		if !t.actor.Paused() && !t.actor.Dead() && (next == nil || t.dueAt < next.dueAt) {
			next = t
		}
	}
	return next
}

// dropTimers removes the timers that match.
func (x *Execution) dropTimers(matches func(*timer) bool) {
	x.timers, x.timeoutTimers = slices.DeleteFunc(x.timers, matches), slices.DeleteFunc(x.timeoutTimers, matches)
}

// isSame reports whether two timers are the same one.
func (tm *timer) isSame(other *timer) bool { return tm == other }

// virtualClock is the lock.Clock of one process.
type virtualClock struct {
	x       *Execution
	process *Process
	moment  time.Duration // longest brief sleep, which the schedule ends
}

// Clock returns the clock of a process. A sleep of at most moment ends whenever the schedule says so, and no time passes: commands take
// time too, so such a short sleep excludes no order of the commands.
func (p *Process) Clock(moment time.Duration) lock.Clock { return virtualClock{p.x, p, moment} }

// Now returns the process's time, and adds to its history that it was read.
func (c virtualClock) Now() time.Time {
	if t := c.x.callingTask("Clock.Now"); t != nil {
		t.currentRound().readClock, t.lastTimer = true, nil
		c.x.Journal.record("Clock.Now")
	}
	c.process.recordClockRead()
	return simredis.VirtualTime(c.x.now + c.process.clockOffset)
}

// AfterFunc implements lock.Clock: it sets a timer that runs f in a new task after the virtual time d.
func (c virtualClock) AfterFunc(d time.Duration, f func()) lock.Timer {
	t := &timer{x: c.x, dueAt: c.x.now + max(d, 0), callback: f, isBrief: 0 < d && d <= c.moment}
	task := c.x.callingTask("Clock.AfterFunc")
	if task == nil || c.process.dead {
		return t
	}
	t.actor = task.actor
	if c.x.Journal != nil {
		c.x.Journal.record("Clock.AfterFunc " + d.String())
	}
	switch {
	case d < Forever:
		task.lastTimer = t
		c.x.timers = append(c.x.timers, t)
	case c.x.budget[fault.Timeout] > 0:
		c.x.timeoutTimers = append(c.x.timeoutTimers, t)
	}
	return t
}

// Go implements lock.Clock: it starts a task, with this name, that runs f.
func (c virtualClock) Go(name string, f func()) {
	if t := c.x.callingTask("Clock.Go"); t != nil && !c.process.dead {
		t.lastTimer = nil
		c.x.Journal.record("Clock.Go")
		child := t.actor.spawn(name, f)
		child.parent, child.parentRound, child.startedByMessage = t, t.round.number, t.startedByMessage
	}
}

// Wait implements lock.Clock: the calling task yields control until ch has a value or is closed, or ctx has ended.
func (c virtualClock) Wait(ctx context.Context, ch <-chan struct{}) error {
	t := c.x.callingTask("Clock.Wait")
	if t == nil {
		return ErrBlind
	}
	if err := checkTimeless(ctx); err != nil {
		c.x.Fail(err)
	}
	c.x.Journal.record("Clock.Wait")
	t.waitTimer, t.lastTimer = t.lastTimer, nil
	t.waiting, t.waitCtx, t.waitCh = true, ctx, ch
	t.waitErr, t.received = nil, false
	if t.isInBriefSleep() || t.isInLongSleep() {
		t.detached = true
		t.recordPause()
	}
	if t.isInBriefSleep() { // The schedule ends a brief sleep, not time.
		c.x.dropTimers(t.waitTimer.isSame)
		t.compressHistory()
	}
	c.x.waiters = append(c.x.waiters, t)
	t.recordCallSite()
	helped := t.hasHelper()
	if err := park(t); err != nil {
		return err
	}
	if helped && c.x.Cluster.OnNodes() {
		c.process.mergeNodeHistories()
	}
	t.waiting = false
	if !helped && (t.waitTimer == nil || !t.waitTimer.isBrief) {
		t.beginRound()
	}
	return t.waitErr
}

// Stop implements lock.Timer: it reports whether it has kept the timer from firing.
func (tm *timer) Stop() bool {
	if tm.stopped {
		return false
	}
	tm.stopped = true
	tm.x.dropTimers(tm.isSame)
	return true
}

// fire makes the timer's function run when the execution settles.
func (tm *timer) fire() {
	tm.Stop()
	tm.actor.spawn(timerRole, tm.callback)
}

// advanceTo advances the virtual time, and fires the timers that are due on the way.
func (x *Execution) advanceTo(until time.Duration) {
	for t := x.timers.earliest(); t != nil && t.dueAt <= until; t = x.timers.earliest() {
		x.moveClock(t.dueAt)
		x.settle() // settle fires the timers that are due
	}
	x.moveClock(until)
}

// moveClock sets the virtual time, and ages the servers by as much.
func (x *Execution) moveClock(until time.Duration) {
	if until <= x.now {
		return
	}
	d := until - x.now
	x.now = until
	for _, s := range x.Cluster.Servers() {
		next, err := x.Cluster.StateAfter(s, d)
		if err != nil {
			x.Fail(err)
			return
		}
		x.setState(s, next, nil)
		if err := x.Cluster.AgeStandby(s, d); err != nil {
			x.Fail(err)
		}
	}
}
