package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// ErrCounts means that a waiter does something else if it has asked in vain more often, or may.
var ErrCounts = errors.New("how often a waiter has asked in vain makes a difference")

// A waiter that has only asked, and pauses for a moment, stutters: until others change something, its next round would be the same. Code
// that does not care how often it has asked so needs no step for such a round. To know that it does not care, rounds in vain are put into a
// schedule, and have to leave everything but the memory of its process as it is, now and later.

// Stutter is a pause of a task after a round in vain.
type Stutter struct {
	Task  uint16
	Round int
}

// Stutters lists those that tasks of a process are in.
func (x *Execution) Stutters(process int) (all []Stutter) {
	for _, t := range x.tasks {
		if t.actor.Process == x.processes[process] && x.isStuttering(t) {
			all = append(all, Stutter{uint16(t.id), t.round.number}) //nolint:gosec // there are few
		}
	}
	return all
}

// HasStuttered reports whether any has ever begun in a process.
func (x *Execution) HasStuttered(process int) bool { return x.processes[process].stuttered }

// putToSleep takes down that t falls asleep.
func (x *Execution) putToSleep(t *Task) {
	t.round.stutters = x.Stuttering && x.wouldRepeat(t)
	t.actor.Process.stuttered = true
}

func (x *Execution) isStuttering(t *Task) bool { return t.live() && t.asleep() && x.wouldRepeat(t) }

// canRepeat reports whether a task that stutters has done so from the end of its round on, and has only asked.
func (t *Task) canRepeat() bool {
	r := &t.round
	return r.stutters && len(r.asked) > 0 && r.changes == 0 && !r.did && !r.lost
}

// maxSteps is how many steps a round in vain may have.
const maxSteps = 100

// Repeat lets a task that stutters ask in vain. It reports false if that changes anything but the memory of its process, or is not what it
// has asked before.
func (x *Execution) Repeat(task uint16) bool {
	t := x.tasks[task]
	p, before := x.Index(t.actor.Process), t.round.asked
	around, tasks, vain := x.Beside(p), len(x.tasks), t.round.vain
	if !t.canRepeat() {
		return false
	}
	x.unseen = true
	x.move(t, Polls)
	for n := 0; n < maxSteps && t.acts() && !t.Ended(); n++ {
		x.move(t, Moves)
	}
	x.unseen, t.round.vain = false, vain
	if slices.ContainsFunc(x.tasks[tasks:], func(t *Task) bool { return !t.Ended() }) {
		return false
	}
	x.tasks = x.tasks[:tasks] // what a schedule says of those to come stays true
	same := func(a, b asked) bool {
		return a.server == b.server && a.command == b.command && string(a.reply) == string(b.reply)
	}
	return x.isStuttering(t) && t.canRepeat() && slices.EqualFunc(before, t.round.asked, same) && x.Beside(p) == around
}

// Index returns the index of a process.
func (x *Execution) Index(p *Process) int { return slices.Index(x.processes, p) }

// Whose returns the index of the process that t happens to, below zero if it happens to nobody.
func (x *Execution) Whose(t Transition) int {
	a := x.Actor(t)
	if a == nil {
		return -1
	}
	return x.Index(a.Process)
}

// Beside stands for everything but what a process remembers, with what its tasks do next.
func (x *Execution) Beside(process int) Fingerprint {
	names := x.unsorted()
	b := x.appendServers(x.Hasher.buffer[:0])
	for i, p := range x.processes {
		if i == process {
			b = x.appendDue(x.appendTasks(strconv.AppendBool(append(b, '|'), p.paused), p), p)
		} else {
			b = x.appendProcess(b, p, names)
		}
	}
	for _, a := range x.actors {
		b = x.Cluster.AppendWatches(b, a.Index)
		b = fmt.Appendf(b, "|%t %t %t %t %v", a.started, a.finished, a.cancelled, a.Dead(), a.err)
	}
	b = fmt.Appendf(b, "|%v %d %d %d %d %d", x.left, x.polls, x.wakings, x.now, x.idle, x.jumped)
	return x.Hasher.sum(x.checker.AppendState(b, names))
}

// appendTasks writes what each task of a process waits for.
func (x *Execution) appendTasks(b []byte, p *Process) []byte {
	for _, t := range x.tasks {
		if t.actor.Process != p || t.Ended() {
			continue
		}
		b = fmt.Appendf(b, "|%d %d", t.id, len(t.rest))
		for _, is := range [...]bool{
			t.subscribes, t.waiting, x.isStuttering(t), t.asleep(), t.isPaused(), t.unread, t.unanswered, t.torn, t.unaware, t.cut, t.held,
		} {
			b = strconv.AppendBool(append(b, ' '), is)
		}
		for _, c := range t.pending {
			b = fmt.Appendf(b, " %d %q", t.to, c.Args())
		}
	}
	return b
}

// canStutter reports whether rounds in vain are no steps. They are where everybody pauses: they may be turning in a circle.
func (x *Execution) canStutter() bool { return x.Stuttering && (x.Going() == 1 || !x.allPause()) }

// Code that looks at its clock, and then asks, may ask later than it thinks. So its waking is a step, also for a round that would be in
// vain. This is directly before what makes a difference: time passes, or something happens to its process. Other steps can come before it.

// addWakings adds that t, which stutters, wakes.
func (x *Execution) addWakings(t *Task) {
	x.beyond = x.beyond || x.Going() > 1
	if !t.canRepeat() {
		x.Fail(ErrCounts)
	}
	if x.wakings > 0 && (x.left != Faults{} || x.company(t)) {
		x.add(t.id, Polls)
	}
}

// wakeEarly takes down that t has woken for a round in vain, and reports whether that is a step: not if it has already asked.
func (x *Execution) wakeEarly(t *Task) bool {
	if t.early = t.acts() && !x.Listens(t.actor.Process); !t.early {
		x.wakings-- // otherwise what has to follow bounds them
	}
	return t.acts()
}

// Next lists what can happen next, as Transitions, but for what could have happened before somebody woke early.
func (x *Execution) Next() []Transition {
	return slices.DeleteFunc(x.Transitions(), func(next Transition) bool {
		return slices.ContainsFunc(x.tasks, func(t *Task) bool { return t.early && !x.concerns(next, t) })
	})
}

// concerns reports whether it makes a difference that t woke before this.
func (x *Execution) concerns(next Transition, t *Task) bool {
	switch next.Kind {
	case TimePasses, Slow, Expires, RollsBack, ClockJumps, RedisClockJumps, NodeClockJumps:
		return true
	case Polls:
		return int(next.ID) != t.id
	default:
		a := x.Actor(next)
		return a != nil && a.Process == t.actor.Process && (next.Kind != Moves || int(next.ID) != t.id)
	}
}
