package engine

import (
	"fmt"
	"slices"
)

// A Wait may end in two ways: its channel has something for it, or its context has ended. If both are so, Go's select takes either of them,
// and the schedule decides: the waiter goes on, or it notices the end. Time passes between the end of a context and the moment at which the
// waiter runs again. Whether others of its process act before that end or after it makes a difference only if they send to that channel.
// So a context that a fault has ended may stay unnoticed until then.

// ready reports whether t's channel has something for it, or is closed.
func (t *Task) pollChannel() bool {
	if t.received || len(t.waitCh) > 0 {
		return true
	}
	select {
	case <-t.waitCh: // it is closed
		t.received = true
	default:
	}
	return t.received
}

// receive takes what t's channel has for it.
func (t *Task) receive() {
	if !t.received {
		<-t.waitCh
	}
	t.received, t.waitErr = false, nil
}

// endWait reports whether a wait is over, and takes what it waited for. It is not over if the schedule has to decide how it ends.
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

// contested reports whether somebody is before t in line for what its channel has, and may take it, or find that his context has ended.
func (t *Task) isContested() bool {
	before := t.x.waiters[:max(slices.Index(t.x.waiters, t), 0)]
	return slices.ContainsFunc(before, func(other *Task) bool {
		return other.waitCh == t.waitCh && other.isLive() && other.waitCtx.Err() != nil
	})
}

// addEnds adds how waits may end that the schedule decides. One whose context alone has ended ends when nobody else can move: before that
// it would be as if the context had ended later.
func (o *optionList) addWaitEnds() {
	active := len(o.all) > 0
	for _, t := range o.x.waiters {
		if !t.undecided || !t.isLive() {
			continue
		}
		ready := t.pollChannel()
		if ready {
			o.add(t.id, GoesOn)
		}
		if t.waitCtx.Err() != nil && (ready || !active) {
			o.add(t.id, Notices)
		}
	}
}

// checkWaits fails for a wait that has ended since everybody waits: a timer or a goroutine of the real time has ended it.
func (x *Execution) checkUnexplainedWakes() {
	for _, t := range x.waiters {
		if t.isLive() && !t.undecided && (t.waitCtx.Err() != nil || t.pollChannel()) {
			x.Fail(fmt.Errorf("%w: what it waits for came by itself, as from time.AfterFunc or a goroutine of its own (%s)", ErrBlind,
				t.linesInState(Stacks(), `\[`, true)))
		}
	}
}

// resolveWait lets a wait end in one of its two ways.
func (t *Task) resolveWait(k Kind) {
	t.x.waiters = slices.DeleteFunc(t.x.waiters, func(other *Task) bool { return other == t })
	if t.waitErr = t.waitCtx.Err(); k == GoesOn {
		t.receive()
	}
	if p := t.actor.Process; k == GoesOn || !t.endUnnoticed || t.eventsAtEnd != p.eventCount { // otherwise it is as if it had noticed at once
		p.recordEvent(k.spec().word + " " + t.label)
	}
	t.undecided, t.endUnnoticed = false, false
	t.x.readyTasks = append(t.x.readyTasks, t)
}

// mayMiss reports whether a's sale may not notice for a while that its context has ended: it waits for what others of its process do.
func (a *Actor) canMissEnd() bool {
	t := a.mainTask
	return t.waiting && !t.Ended() && t.isLive() && !t.isInBriefSleep() && !t.undecided && t.waitCh != nil && t.hasCompany()
}

// isUnaware reports whether t has not noticed in this step that its context has ended.
func hasUnnoticedEnd(t *Task) bool {
	return t.endUnnoticed && t.eventsAtEnd == t.actor.Process.eventCount
}
