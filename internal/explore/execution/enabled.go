package execution

import (
	"slices"

	"lockstep/internal/explore/scenario"
	"lockstep/internal/explore/simredis"
)

// options are what can happen next, in a fixed order.
type options []Transition

func (o *options) add(k Kind, id int) {
	*o = append(*o, Transition{k, uint16(id)}) //nolint:gosec // there are few
}

// Transitions lists what can happen next. There is nothing when everybody has finished, or nobody can go on. The list is good until
// the next call.
func (x *Execution) Transitions() []Transition {
	x.options, x.desperate = x.options[:0], false
	if x.over() {
		return nil
	}
	x.addMoves()
	x.addMessages()
	active := len(x.options) > 0
	x.addProcessFaults()
	x.addLeaves()
	x.addTime(active)
	if !slices.ContainsFunc(x.options, Transition.hopeful) {
		x.options = x.options[:0] // faults alone bring nobody on
	}
	return x.options
}

// LastResort reports whether the last Transitions are those that are there before everybody is given up for stuck.
func (x *Execution) LastResort() bool { return x.desperate }

// addMoves adds the commands, and what may happen to each.
func (x *Execution) addMoves() {
	for _, t := range x.tasks {
		if !x.movable(t) {
			continue
		}
		x.options.add(Moves, t.id)
		if x.left.LostReply > 0 {
			x.options.add(LosesReply, t.id)
		}
		if x.left.Crash > 0 {
			x.options.add(DiesAfter, t.id)
		}
		x.addNodeFaults(t)
	}
}

// addNodeFaults adds what may have happened to a node by the time t's command comes to it: before, nobody could tell.
func (x *Execution) addNodeFaults(t *Task) {
	if t.pending == nil || t.to == 0 {
		return
	}
	s := x.Cluster.Servers()[t.to]
	if s.Health != simredis.Well {
		return
	}
	if x.left.NodeCrash > 0 {
		x.options.add(NodeCrashes, t.id)
	}
	if x.left.NodeHang > 0 {
		x.options.add(NodeHangs, t.id)
	}
	if x.left.NodeRestart > 0 && len(s.Holds.Keys) > 0 {
		x.options.add(NodeRestarts, t.id)
	}
}

// addMessages adds the messages that are due.
func (x *Execution) addMessages() {
	for i, p := range x.processes {
		if x.due(p) == nil || p.paused || p.dead {
			continue
		}
		x.options.add(Woken, i)
		if x.left.LostWake > 0 {
			x.options.add(Unwoken, i)
		}
	}
}

// addProcessFaults adds pauses and crashes that no command is part of, and the end of pauses; then, as they are harder to read, pauses
// after a command.
func (x *Execution) addProcessFaults() {
	moves := len(x.options)
	for i, p := range x.processes {
		switch {
		case p.dead || !p.begun() || p.ended():
		case p.paused:
			x.options.add(Resumes, i)
		default:
			if x.left.Pause > 0 {
				x.options.add(Pauses, i)
			}
			if t := x.sender(p); t != nil && x.left.Crash > 0 {
				x.options.add(DiesBefore, t.id)
			}
		}
	}
	if x.left.Pause == 0 {
		return
	}
	for _, t := range slices.Clone(x.options[:moves]) {
		if t.Kind == Moves {
			x.options.add(PausesAfter, int(t.ID))
		}
	}
}

func (x *Execution) addLeaves() {
	for i, a := range x.actors {
		if x.left.Cancel > 0 && a.started && !a.finished && !a.cancelled && !a.Dead() {
			x.options.add(Leaves, i)
		}
	}
}

// addTime adds that time passes: by itself if nobody is active, and otherwise as a fault. If nothing is due, those who would repeat their
// last round try once more before they are given up for stuck.
func (x *Execution) addTime(active bool) {
	expiry, next := x.Cluster.NextExpiry(), x.nextTimer()
	switch {
	case !active && (expiry > 0 || next != nil || x.mayIdle()):
		x.options.add(TimePasses, 0)
	case !active && len(x.options) == 0:
		for _, t := range x.tasks {
			if t.asleep() && t.live() && t.round.vain == 0 {
				x.desperate = true
				x.options.add(Moves, t.id)
			}
		}
	case active && x.left.Slow > 0 && next != nil && (expiry == 0 || next.at < x.now+expiry):
		x.options.add(Slow, 0)
	}
	if active && x.left.Expiry > 0 && expiry > 0 {
		x.options.add(Expires, 0)
	}
}

// movable reports whether t can do something by itself. A waiter that tried in vain cannot, until it would learn something else.
func (x *Execution) movable(t *Task) bool {
	switch {
	case !t.live():
		return false
	case t == t.actor.main && !t.actor.started:
		return x.mayStart(t.actor)
	case t.pending != nil:
		return true
	default:
		return t.asleep() && !x.wouldRepeat(t)
	}
}

// mayIdle reports whether time may pass although nothing is due: somebody tries who may find that it has. Twice in a row is enough.
func (x *Execution) mayIdle() bool {
	return x.idle < 2 && slices.ContainsFunc(x.tasks, func(t *Task) bool {
		return t.asleep() && t.live() && (t.round.looked || !t.round.sameAnswer(x.Cluster, x.now+scenario.TTL))
	})
}

// mayStart keeps actors that start alike in order: which of them comes first is a matter of names. It is explored both forwards and
// backwards, because code may compare names.
func (x *Execution) mayStart(a *Actor) bool {
	if x.EverySymmetry {
		return true
	}
	before := x.actors[:a.Index]
	if x.Backwards {
		before = x.actors[a.Index+1:]
	}
	return !slices.ContainsFunc(before, func(b *Actor) bool {
		return !b.started && b.once == a.once && (b.Process == a.Process || x.Scenario.Alike())
	})
}

// over reports whether every actor has finished or died.
func (x *Execution) over() bool {
	return !slices.ContainsFunc(x.actors, func(a *Actor) bool { return !a.finished && !a.Dead() })
}
