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
func (t *Task) ready() bool {
	if t.taken || len(t.ch) > 0 {
		return true
	}
	select {
	case <-t.ch: // it is closed
		t.taken = true
	default:
	}
	return t.taken
}

// receive takes what t's channel has for it.
func (t *Task) receive() {
	if !t.taken {
		<-t.ch
	}
	t.taken, t.err = false, nil
}

// endWait reports whether a wait is over, and takes what it waited for. It is not over if the schedule has to decide how it ends.
func (t *Task) endWait() bool {
	if !t.live() {
		return false
	}
	ended, ready := t.ctx.Err(), t.ready()
	t.torn = ready && (ended != nil || t.contested())
	switch {
	case t.torn, !ready && ended == nil:
		return false
	case ready:
		t.receive()
		return true
	case t.x.unnoticed && !t.unaware && !t.asleep():
		t.unaware, t.noted = true, t.actor.Process.notes
	}
	t.torn = t.unaware
	t.err = ended
	return !t.torn
}

// contested reports whether somebody is before t in line for what its channel has, and may take it, or find that his context has ended.
func (t *Task) contested() bool {
	before := t.x.waiters[:max(slices.Index(t.x.waiters, t), 0)]
	return slices.ContainsFunc(before, func(other *Task) bool { return other.ch == t.ch && other.live() && other.ctx.Err() != nil })
}

// addEnds adds how waits may end that the schedule decides. One whose context alone has ended ends when nobody else can move: before that
// it would be as if the context had ended later.
func (o *options) addEnds() {
	active := len(o.all) > 0
	for _, t := range o.x.waiters {
		if !t.torn || !t.live() {
			continue
		}
		ready := t.ready()
		if ready {
			o.add(t.id, GoesOn)
		}
		if t.ctx.Err() != nil && (ready || !active) {
			o.add(t.id, Notices)
		}
	}
}

// checkWaits fails for a wait that has ended since everybody waits: a timer or a goroutine of the real time has ended it.
func (x *Execution) checkWaits() {
	for _, t := range x.waiters {
		if t.live() && !t.torn && (t.ctx.Err() != nil || t.ready()) {
			x.Fail(fmt.Errorf("%w: what it waits for came by itself, as from time.AfterFunc or a goroutine of its own (%s)", ErrBlind,
				t.at(Stacks(), `\[`, true)))
		}
	}
}

// resolveWait lets a wait end in one of its two ways.
func (t *Task) resolveWait(k Kind) {
	t.x.waiters = slices.DeleteFunc(t.x.waiters, func(other *Task) bool { return other == t })
	if t.err = t.ctx.Err(); k == GoesOn {
		t.receive()
	}
	if p := t.actor.Process; k == GoesOn || !t.unaware || t.noted != p.notes { // otherwise it is as if it had noticed at once
		p.note(k.row().word + " " + t.label)
	}
	t.torn, t.unaware = false, false
	t.x.ready = append(t.x.ready, t)
}

// mayMiss reports whether a's sale may not notice for a while that its context has ended: it waits for what others of its process do.
func (a *Actor) mayMiss() bool {
	t := a.main
	return t.waiting && !t.Ended() && t.live() && !t.asleep() && !t.torn && t.ch != nil && t.company()
}

// isUnaware reports whether t has not noticed in this step that its context has ended.
func isUnaware(t *Task) bool { return t.unaware && t.noted == t.actor.Process.notes }
