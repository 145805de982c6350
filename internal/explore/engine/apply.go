package engine

import (
	"slices"
	"strconv"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// Apply lets t happen, and everything that follows from it by itself. It reports false when t turned out to be no transition of its own: a
// fault of a command that was not sent; and once Err says that nothing more can be said.
func (x *Execution) Apply(t Transition) bool {
	if x.stopped() {
		return false
	}
	x.watched()
	if !x.possible(t) {
		x.Fail(ErrUnrepeatable)
		return false
	}
	sent := true
	x.taken = append(x.taken, t)
	switch t.Kind {
	case NodeCrashes, NodeHangs, NodeRestarts, NodeClockJumps:
		x.strikeNode(x.Cluster.Servers()[x.tasks[t.ID].to], t.Kind)
		sent = x.tasks[t.ID].cut || x.move(x.tasks[t.ID], Moves)
	case Moves, PollsOn, LosesReply, DiesAfter, PausesAfter, LosesRequest, Delays, Resends:
		sent = x.move(x.tasks[t.ID], t.Kind)
	case Unsynced, Unsaved:
		sent = x.move(x.tasks[t.ID], t.Kind)
		s := x.Cluster.Lagging()
		sent = sent && s != nil && x.Cluster.WouldLose(s) // otherwise it makes no difference that the replica, or the snapshot, does not get it
	case DiesBefore:
		x.tasks[t.ID].actor.Process.dead = true
	case Pauses:
		x.processes[t.ID].paused = true
	case Resumes:
		x.continues(x.processes[t.ID])
	case Woken:
		x.notify(x.processes[t.ID])
	case Unwoken:
		x.due(x.processes[t.ID]).take()
	case GoesOn, Notices:
		x.resolveWait(x.tasks[t.ID], t.Kind)
	case Leaves, LeavesUnnoticed:
		a := x.actors[t.ID]
		a.cancelled, x.unnoticed = true, t.Kind == LeavesUnnoticed
		x.note(a.Process, "cancel "+strconv.Itoa(a.inside))
		a.leave()
	case TimePasses:
		if x.Cluster.NextExpiry() == 0 && x.nextTimer() == nil {
			x.idle++
		}
		x.pass(x.nextDue())
	case Slow:
		x.pass(x.nextTimer().at)
	case Expires:
		x.pass(x.now + x.Cluster.NextExpiry())
	case Arrives:
		x.arrive(x.tasks[t.ID])
	case NeverArrives:
		x.breakOff(x.tasks[t.ID])
	case FailsOver:
		x.failOver(x.Cluster.Lagging())
	case RollsBack:
		x.reset(x.Cluster.Lagging())
		x.pass(x.now + Restart)
		x.failOver(x.Cluster.Lagging())
	case Evicts:
		s := x.Cluster.Servers()[0]
		x.becomes(s, x.Cluster.Without(s, lock.Key), nil)
	case TimesOut, TimesOutUnnoticed:
		a := x.actors[t.ID]
		x.unnoticed = t.Kind == TimesOutUnnoticed
		x.note(a.Process, "timeout "+strconv.Itoa(a.inside))
		x.fire(x.itsTimeout(a))
	case ClockJumps:
		x.stepClock(x.processes[t.ID])
	case RedisClockJumps:
		x.stepServerClock(x.Cluster.Servers()[0])
	}
	if left := x.budgets[t.Kind]; left != nil {
		*left--
	}
	x.settle()
	sent = sent && (!x.unnoticed || x.hasUnaware())
	x.unnoticed = false
	x.bury()
	return sent
}

// stopped reports whether nothing more can be said, or is asked for.
func (x *cast) stopped() bool {
	if x.Stop != nil {
		if err := x.Stop(); err != nil {
			x.Fail(err)
		}
	}
	return x.Err() != nil
}

// move lets t do what it does next, with its next command if it comes to one.
func (x *Execution) move(t *Task, k Kind) (sent bool) {
	begins := t.pending == nil
	switch {
	case t.subscribes:
		x.ready = append(x.ready, t)
		x.settle()
		return k == Moves
	case t == t.actor.main && !t.actor.started:
		t.actor.started = true
		x.note(t.actor.Process, "start "+strconv.Itoa(t.actor.inside))
		x.ready = append(x.ready, t)
		x.settle()
	case t.pending == nil:
		x.wake(t)
	}
	if t.pending == nil || t.Ended() || begins && x.matters(t) {
		return k == Moves || k == PollsOn
	}
	if t.fate = k; x.isIndependent(t) {
		return false
	}
	x.ready = append(x.ready, t)
	x.settle()
	return true
}

// isIndependent reports whether what the network or a replica does to t's command is nothing new: its server does not answer anyway, or
// has no replica.
func (x *Execution) isIndependent(t *Task) bool {
	s := x.Cluster.Servers()[t.to]
	switch t.fate {
	case LosesRequest, Delays, Resends:
		return s.Health != simredis.Well
	case Unsynced, Unsaved:
		return s.Health != simredis.Well || x.Cluster.OnNodes() && s.Index == 0
	default:
		return false
	}
}

// matters reports whether something may happen between t's start, or its waking, and its first command that it can tell from what happens
// after that: others of its process run, its client goes away, or time passes after it has looked at the clock. If not, the command is
// part of the same step.
func (x *Execution) matters(t *Task) bool {
	may := x.left
	return t.round.looked && may.Slow+may.Expiry+may.Pause > 0 || may.Cancel > 0 && !t.actor.cancelled || x.company(t)
}

// company reports whether somebody else may act in t's process.
func (x *scheduler) company(t *Task) bool {
	p := t.actor.Process
	for _, a := range p.actors {
		if a != t.actor && !a.finished {
			return true
		}
	}
	for _, other := range x.tasks {
		if other != t && other.actor.Process == p && !other.Ended() && other != t.actor.main {
			return true
		}
	}
	return slices.ContainsFunc(x.listeners, func(l *listener) bool { return l.actor.Process == p && len(l.notify) > 0 })
}

// continues resumes a process. The timers it slept through fire at once; then it reads the reply that waits for it.
func (x *machine) continues(p *Process) {
	p.paused = false
	x.note(p, "resume")
	x.settle()
	for _, t := range x.tasks {
		if t.actor.Process == p && t.unread && !t.Ended() {
			x.ready = append(x.ready, t)
			x.settle()
		}
	}
}

// possible reports whether t can happen: a schedule that comes from a run of code which did something else may have tasks, messages and
// timers that this one has not.
func (x *Execution) possible(t Transition) bool {
	switch t.Kind {
	case Woken, Unwoken:
		return x.due(x.processes[t.ID]) != nil
	case TimesOut, TimesOutUnnoticed:
		return x.itsTimeout(x.actors[t.ID]) != nil
	case FailsOver, RollsBack:
		s := x.Cluster.Lagging()
		return s != nil && s.Saved == (t.Kind == RollsBack)
	case Evicts:
		return x.evictable()
	case Slow:
		return x.nextTimer() != nil
	case GoesOn, Notices:
		return int(t.ID) < len(x.tasks) && x.tasks[t.ID].torn && slices.Contains(x.waiters, x.tasks[t.ID])
	case Pauses, Resumes, Leaves, LeavesUnnoticed, TimePasses, Expires, ClockJumps, RedisClockJumps:
		return true
	case Arrives, NeverArrives:
		return int(t.ID) < len(x.tasks) && x.oldest(x.tasks[t.ID]) >= 0
	default:
		return int(t.ID) < len(x.tasks) && x.canMove(x.tasks[t.ID])
	}
}

// canMove reports whether t waits for something that the schedule decides.
func (x *Execution) canMove(t *Task) bool {
	return !t.Ended() && (t.acts() || t.asleep() || t == t.actor.main && !t.actor.started)
}
