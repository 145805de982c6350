package engine

import (
	"slices"
	"strconv"

	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/simredis"
)

// Apply makes t happen, and then runs everything that follows from it. It returns false if t turned out not to be a step of its own, such
// as a fault on a command that was not sent, or if the execution has failed: see Err.
func (x *Execution) Apply(t Transition) (isStep bool) {
	if x.checkStop() {
		return false
	}
	x.checkUnexplainedWakes()
	spec, id := &x.kindTable[t.Kind], int(t.ID)
	possible := spec.subject != subjectTask || id < len(x.tasks) && x.tasks[id].canMove()
	if spec.canHappen != nil {
		possible = spec.canHappen(x, t.Kind, id)
	}
	if !possible {
		x.Fail(ErrUnrepeatable)
		return false
	}
	x.schedule, x.Faulted = append(x.schedule, t), x.Faulted || spec.fault != fault.None
	isStep = spec.apply(x, t.Kind, id)
	if spec.budget != fault.None {
		x.budget[spec.budget]--
	}
	x.settle()
	isStep = isStep && (!x.endsGoUnnoticed || slices.ContainsFunc(x.waiters, hasUnnoticedEnd))
	x.endsGoUnnoticed = false
	x.killDeadTasks()
	return isStep
}

// checkStop calls Setup.Stop, and reports whether the execution has to end or has failed.
func (x *Execution) checkStop() bool {
	if x.Stop != nil {
		if err := x.Stop(); err != nil {
			x.Fail(err)
		}
	}
	return x.Err() != nil
}

// move runs t's next action, and, if the action leads to a command, that command with the fault k. It returns false if the result is not a
// step of its own.
func (t *Task) move(k Kind) (isStep bool) {
	isStart := t.pending == nil
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
	if t.pending == nil || t.Ended() || isStart && t.isStartObservable() {
		return k == Moves || k == PollsOn
	}
	if t.faultKind = k; t.isFaultRedundant() {
		return false
	}
	t.x.readyTasks = append(t.x.readyTasks, t)
	t.x.settle()
	return true
}

// isFaultRedundant reports whether the fault on t's command makes no difference: the server does not answer anyway, or, for a stop of
// replication, the explorer does not simulate the server's replica and snapshot.
func (t *Task) isFaultRedundant() bool {
	s := t.x.Cluster.Servers()[t.server]
	switch t.faultKind {
	case LosesRequest, Delays, Resends:
		return s.Health != simredis.Healthy
	case StopsReplication, StopsSnapshots:
		return s.Health != simredis.Healthy || t.x.Cluster.OnNodes() && s.Index == 0
	default:
		return false
	}
}

// isStartObservable reports whether t could distinguish an event that comes between its start or waking and its first command from an event
// that comes after that command: another task of its process runs, its client goes away, or time passes after t has read the clock. If t
// cannot, the command is part of the same step.
func (t *Task) isStartObservable() bool {
	budget := t.x.budget
	timeMayPass := budget[fault.Slow]+budget[fault.Expiry]+budget[fault.Pause] > 0
	return t.round.readClock && timeMayPass || budget[fault.Cancel] > 0 && !t.actor.cancelled || t.hasCompany()
}

// hasCompany reports whether anything else may act in t's process: another actor, task or listener.
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

// resume ends the pause of a process. The timers that became due during the pause fire at once; then its tasks read the replies that have
// arrived.
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
