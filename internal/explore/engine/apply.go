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
	if x.stopped() {
		return false
	}
	x.checkWaits()
	r, id := &x.rows[t.Kind], int(t.ID)
	possible := r.of != task || id < len(x.tasks) && x.tasks[id].canMove()
	if r.can != nil {
		possible = r.can(x, t.Kind, id)
	}
	if !possible {
		x.Fail(ErrUnrepeatable)
		return false
	}
	x.taken, x.Faulted = append(x.taken, t), x.Faulted || r.fault != fault.None
	own = r.happen(x, t.Kind, id)
	if r.uses != fault.None {
		x.left[r.uses]--
	}
	x.settle()
	own = own && (!x.unnoticed || slices.ContainsFunc(x.waiters, isUnaware))
	x.unnoticed = false
	x.bury()
	return own
}

// stopped reports whether nothing more can be said, or is asked for.
func (x *Execution) stopped() bool {
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
	case t.subscribes:
		t.x.ready = append(t.x.ready, t)
		t.x.settle()
		return k == Moves
	case t == t.actor.main && !t.actor.started:
		t.actor.started = true
		t.actor.Process.note("start " + strconv.Itoa(t.actor.inside))
		t.x.ready = append(t.x.ready, t)
		t.x.settle()
	case t.pending == nil:
		t.wake()
	}
	if t.pending == nil || t.Ended() || begins && t.matters() {
		return k == Moves || k == PollsOn
	}
	if t.fate = k; t.isIndependent() {
		return false
	}
	t.x.ready = append(t.x.ready, t)
	t.x.settle()
	return true
}

// isIndependent reports whether what the network or a replica does to t's command is nothing new: its server does not answer anyway, or
// has no replica.
func (t *Task) isIndependent() bool {
	s := t.x.Cluster.Servers()[t.to]
	switch t.fate {
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
func (t *Task) matters() bool {
	may := t.x.left
	late := may[fault.Slow]+may[fault.Expiry]+may[fault.Pause] > 0
	return t.round.looked && late || may[fault.Cancel] > 0 && !t.actor.cancelled || t.company()
}

// company reports whether somebody else may act in t's process.
func (t *Task) company() bool {
	p := t.actor.Process
	for _, a := range p.actors {
		if a != t.actor && !a.finished {
			return true
		}
	}
	for _, other := range t.x.tasks {
		if other != t && other.actor.Process == p && !other.Ended() && other != t.actor.main {
			return true
		}
	}
	return slices.ContainsFunc(t.x.listeners, func(l *listener) bool { return l.actor.Process == p && len(l.notify) > 0 })
}

// continues resumes a process. The timers it slept through fire at once; then it reads the reply that waits for it.
func (p *Process) continues() {
	p.paused = false
	p.note("resume")
	p.x.settle()
	for _, t := range p.x.tasks {
		if t.actor.Process == p && t.unread && !t.Ended() {
			p.x.ready = append(p.x.ready, t)
			p.x.settle()
		}
	}
}

// canMove reports whether t waits for something that the schedule decides.
func (t *Task) canMove() bool {
	return !t.Ended() && (t.acts() || t.asleep() || t == t.actor.main && !t.actor.started)
}
