package engine

import (
	"fmt"
	"slices"

	"lockstep/internal/language"
)

// A Wait ends when its channel has a value or is closed, or when its context has ended. If both are true, Go's select takes either of them,
// so the schedule decides: the waiter goes on, or it notices the end. Between the end of a context and the moment at which the waiter
// runs again, time may pass. Whether other tasks of its process act before that end or after it makes a difference only if they send to
// that channel. So the end of a context by a fault may stay unnoticed until then.

// pollChannel reports whether t's channel has a value or is closed. It records in received that the channel is closed.
func (t *Task) pollChannel() bool {
	if t.received || len(t.waitCh) > 0 {
		return true
	}
	select {
	case <-t.waitCh: // a channel with an empty buffer can be received from only if it is closed
		t.received = true
	default:
	}
	return t.received
}

// receive takes the value that t's channel has.
func (t *Task) receive() {
	if !t.received {
		<-t.waitCh
	}
	t.received, t.waitErr = false, nil
}

// tryEndWait ends a wait that is over, and reports whether it has done so. A wait that the schedule has to end remains.
func (t *Task) tryEndWait() bool {
	if !t.isLive() {
		return false
	}
	ended, ready := t.waitCtx.Err(), t.pollChannel()
	t.undecided = ready && (ended != nil || t.isContested())
	switch {
	case t.undecided, !ready && ended == nil:
		return false
	case ready:
		t.receive()
		return true
	case t.x.endsGoUnnoticed && !t.endUnnoticed && !t.isInBriefSleep():
		t.endUnnoticed, t.eventsAtEnd = true, t.actor.Process.eventCount
	}
	t.undecided = t.endUnnoticed
	t.waitErr = ended
	return !t.undecided
}

// isContested reports whether a task that waits longer on the same channel could take its value, or notice the end of its context
// instead.
func (t *Task) isContested() bool {
	before := t.x.waiters[:max(slices.Index(t.x.waiters, t), 0)]
	return slices.ContainsFunc(before, func(other *Task) bool {
		return other.waitCh == t.waitCh && other.isLive() && other.waitCtx.Err() != nil
	})
}

// addWaitEnds adds the ways in which an undecided wait may end. A waiter whose context has ended, and whose channel is not ready, notices
// the end when nobody else can move: noticing it earlier would be the same as a context that ends later.
func (list *transitionList) addWaitEnds() {
	active := len(list.all) > 0
	for _, t := range list.x.waiters {
		if !t.undecided || !t.isLive() {
			continue
		}
		ready := t.pollChannel()
		if ready {
			list.add(t.id, GoesOn)
		}
		if t.waitCtx.Err() != nil && (ready || !active) {
			list.add(t.id, Notices)
		}
	}
}

// checkUnexplainedWakes fails the execution if a wait has ended since the last step: only a real timer or an unknown goroutine can have
// done that.
func (x *Execution) checkUnexplainedWakes() {
	for _, t := range x.waiters {
		if t.isLive() && !t.undecided && (t.waitCtx.Err() != nil || t.pollChannel()) {
			where := t.linesInState(Stacks(), `\[`, true)
			x.Fail(language.Translate(
				fmt.Errorf("%w: what it waits for came from time.AfterFunc, or from a goroutine of its own (%s)", ErrBlind, where),
				"代码等的事件不经过时钟就到了，比如来自 time.AfterFunc 或代码自己启动的 goroutine（%s）", where))
		}
	}
}

// resolveWait ends an undecided wait in the way that the schedule chose.
func (t *Task) resolveWait(k Kind) {
	t.x.waiters = slices.DeleteFunc(t.x.waiters, func(other *Task) bool { return other == t })
	if t.waitErr = t.waitCtx.Err(); k == GoesOn {
		t.receive()
	}
	// If nothing has happened to the process since the end, it is as if the task had noticed at once.
	if p := t.actor.Process; k == GoesOn || !t.endUnnoticed || t.eventsAtEnd != p.eventCount {
		p.recordEvent(k.spec().word + " " + t.label)
	}
	t.undecided, t.endUnnoticed = false, false
	t.x.readyTasks = append(t.x.readyTasks, t)
}

// canMissEnd reports whether a's sale may notice the end of its context late: it waits for something that other tasks of its process do.
func (a *Actor) canMissEnd() bool {
	t := a.mainTask
	return t.waiting && !t.Ended() && t.isLive() && !t.isInBriefSleep() && !t.undecided && t.waitCh != nil && t.hasCompany()
}

// hasUnnoticedEnd reports whether t has not noticed the end of its context, and nothing has happened to its process since.
func hasUnnoticedEnd(t *Task) bool {
	return t.endUnnoticed && t.eventsAtEnd == t.actor.Process.eventCount
}
