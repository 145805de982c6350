package execution

import (
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// What a checker and a recorder may want to know.

// InVain reports whether a waits for what time alone will not bring.
func (x *Execution) InVain(a *Actor) bool {
	t := a.main
	return t.waiting && (t.sleep == nil || t.asleep() && x.wouldRepeat(t) || t.restsInVain())
}

// Queues reports whether a waits for something else than a command's answer or the end of a short pause.
func (x *Execution) Queues(a *Actor) bool { return a.main.waiting && !a.main.asleep() }

// TimerNext reports whether the next thing that time would bring is a timer, and no expiry.
func (x *Execution) TimerNext() bool {
	expiry, next := x.Cluster.NextExpiry(), x.nextTimer()
	return next != nil && (expiry == 0 || next.at < x.now+expiry)
}

// Faulted reports whether a fault has happened.
func (x *Execution) Faulted() bool {
	return slices.ContainsFunc(x.taken, func(t Transition) bool { return t.Kind.Fault() != "" })
}

// Took reports whether a transition of a kind has happened.
func (x *Execution) Took(k Kind) bool {
	return slices.ContainsFunc(x.taken, func(t Transition) bool { return t.Kind == k })
}

// Outlived gives, for each task that still runs although all actors of its process have finished, the actor it was for. Those that have
// still to hear from a node do not count, as their client bounds that; nor do those that answer a message by a command, as they work for
// their process.
func (x *Execution) Outlived() (all []*Actor) {
	for _, p := range x.processes {
		if p.dead || !p.begun() || !p.ended() || x.asks(p) {
			continue
		}
		for _, t := range x.tasks {
			answers := t.notified && (t.pending != nil || t.unread || p.paused)
			if t.actor.Process == p && !t.Ended() && !answers {
				all = append(all, t.actor)
			}
		}
	}
	return all
}

// asks reports whether a task of p has still to hear from a node.
func (x *Execution) asks(p *Process) bool {
	return slices.ContainsFunc(x.tasks, func(t *Task) bool {
		return t.actor.Process == p && !t.Ended() && (t.unanswered || t.pending != nil && t.to > 0)
	})
}

// Ended reports whether the task that t happened to has ended.
func (x *Execution) Ended(t Transition) bool { return t.Kind.OfTask() && x.tasks[t.ID].Ended() }

// Pending returns what the task that t happens to is about to send, as far as that is known.
func (x *Execution) Pending(t Transition) []redis.Cmder {
	if !t.Kind.OfTask() {
		return nil
	}
	return x.tasks[t.ID].pending
}

// Ahead returns how far clocks may be apart.
func (x *Execution) Ahead() time.Duration {
	return x.Scenario.Skew*time.Duration(len(x.processes)-1) + x.jumped
}
