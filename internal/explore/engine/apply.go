package engine

import (
	"slices"
	"strconv"

	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/simredis"
)

// Apply lets t happen, and everything that follows from it by itself. It reports false when t turned out to be no transition of its own: a
// fault of a command that was not sent; and once Err says that nothing more can be said.
func (x *Execution) Apply(t Transition) (own bool) {
	if x.checkStop() {
		return false
	}
	x.checkUnexplainedWakes()
	r, id := &x.kindTable[t.Kind], int(t.ID)
	possible := r.subject != subjectTask || id < len(x.tasks) && x.tasks[id].canMove()
	if r.canHappen != nil {
		possible = r.canHappen(x, t.Kind, id)
	}
	if !possible {
		x.Fail(ErrUnrepeatable)
		return false
	}
	x.schedule, x.Faulted = append(x.schedule, t), x.Faulted || r.fault != fault.None
	own = r.apply(x, t.Kind, id)
	if r.budget != fault.None {
		x.budget[r.budget]--
	}
	x.settle()
	own = own && (!x.endsGoUnnoticed || slices.ContainsFunc(x.waiters, hasUnnoticedEnd))
	x.endsGoUnnoticed = false
	x.killDeadTasks()
	return own
}

// stopped reports whether nothing more can be said, or is asked for.
func (x *Execution) checkStop() bool {
	if x.Stop != nil {
		if err := x.Stop(); err != nil {
			x.Fail(err)
		}
	}
	return x.Err() != nil
}

// move lets t do what it does next, with its next command if it comes to one.
func (t *Task) move(k Kind) (sent bool) {
	begins := t.pending == nil
	switch {
	case t.subscribing:
		t.x.readyTasks = append(t.x.readyTasks, t)
		t.x.settle()
		return k == Moves
	case t == t.actor.mainTask && !t.actor.started:
		t.actor.started = true
		t.actor.Process.recordEvent("start " + strconv.Itoa(t.actor.indexInProcess))
		t.x.readyTasks = append(t.x.readyTasks, t)
		t.x.settle()
	case t.pending == nil:
		t.wake()
	}
	if t.pending == nil || t.Ended() || begins && t.isStartObservable() {
		return k == Moves || k == PollsOn
	}
	if t.faultKind = k; t.isFaultRedundant() {
		return false
	}
	t.x.readyTasks = append(t.x.readyTasks, t)
	t.x.settle()
	return true
}

// isIndependent reports whether what the network or a replica does to t's command is nothing new: its server does not answer anyway, or
// has no replica.
func (t *Task) isFaultRedundant() bool {
	s := t.x.Cluster.Servers()[t.server]
	switch t.faultKind {
	case LosesRequest, Delays, Resends:
		return s.Health != simredis.Well
	case Unsynced, Unsaved:
		return s.Health != simredis.Well || t.x.Cluster.OnNodes() && s.Index == 0
	default:
		return false
	}
}

// matters reports whether something may happen between t's start, or its waking, and its first command that it can tell from what happens
// after that: others of its process run, its client goes away, or time passes after it has looked at the clock. If not, the command is
// part of the same step.
func (t *Task) isStartObservable() bool {
	may := t.x.budget
	late := may[fault.Slow]+may[fault.Expiry]+may[fault.Pause] > 0
	return t.round.readClock && late || may[fault.Cancel] > 0 && !t.actor.cancelled || t.hasCompany()
}

// company reports whether somebody else may act in t's process.
func (t *Task) hasCompany() bool {
	p := t.actor.Process
	for _, a := range p.actors {
		if a != t.actor && !a.finished {
			return true
		}
	}
	for _, other := range t.x.tasks {
		if other != t && other.actor.Process == p && !other.Ended() && other != t.actor.mainTask {
			return true
		}
	}
	return slices.ContainsFunc(t.x.listeners, func(l *listener) bool { return l.actor.Process == p && len(l.notify) > 0 })
}

// continues resumes a process. The timers it slept through fire at once; then it reads the reply that waits for it.
func (p *Process) resume() {
	p.paused = false
	p.recordEvent("resume")
	p.x.settle()
	for _, t := range p.x.tasks {
		if t.actor.Process == p && t.replyUnread && !t.Ended() {
			p.x.readyTasks = append(p.x.readyTasks, t)
			p.x.settle()
		}
	}
}

// canMove reports whether t waits for something that the schedule decides.
func (t *Task) canMove() bool {
	return !t.Ended() && (t.hasAction() || t.isInBriefSleep() || t == t.actor.mainTask && !t.actor.started)
}
