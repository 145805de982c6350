package engine

import (
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore/fault"
	"lockstep/internal/trace"
)

// Queries of a judge or a recorder about the current state.

// IsWaitingInVain reports whether a waits for something that the passing of time alone will not bring.
func (a *Actor) IsWaitingInVain() bool {
	t := a.mainTask
	return t.waiting && !t.undecided && (t.waitTimer == nil || t.isInBriefSleep() && t.wouldRepeat() || t.isInFutileSleep())
}

// IsQueued reports whether a is in a Clock.Wait other than a brief sleep, as in a queue.
func (a *Actor) IsQueued() bool { return a.mainTask.waiting && !a.mainTask.isInBriefSleep() }

// IsTimerNext reports whether a timer is due before the next key expires.
func (x *Execution) IsTimerNext() bool {
	expiry, next := x.Cluster.NextExpiry(), x.timers.earliest()
	return next != nil && (expiry == 0 || next.dueAt < x.now+expiry)
}

// OutlivingTasks returns the tasks that still run although all sales of their process have ended. It leaves out processes that are paused,
// because their tasks may end after the pause, and processes in which a task awaits a node, because the client's read timeout ends that.
// It also leaves out tasks that handle a message, because they work for the process, and tasks whose wait has ended.
func (x *Execution) OutlivingTasks() (all []Subject) {
	for _, p := range x.processes {
		if !p.IsOver() || p.isAwaitingNode() {
			continue
		}
		for _, t := range x.tasks {
			isExempt := t.startedByMessage && t.hasAction() || t.undecided
			if t.actor.Process == p && !t.Ended() && !isExempt {
				all = append(all, Subject{t.name(), t.actor, t})
			}
		}
	}
	return all
}

// isAwaitingNode reports whether a task of p awaits a reply from a node.
func (p *Process) isAwaitingNode() bool {
	return slices.ContainsFunc(p.x.tasks, func(t *Task) bool {
		return t.actor.Process == p && !t.Ended() && (t.awaitsReply || t.pending != nil && t.server > 0)
	})
}

// Pending returns the commands that the actor's main task has sent and Redis has not executed; nil: none.
func (a *Actor) Pending() []redis.Cmder { return a.mainTask.pending }

// MaxClockDifference returns an upper bound of the difference between two clocks of the execution.
func (x *Execution) MaxClockDifference() time.Duration {
	return x.Scenario.Skew*time.Duration(min(len(x.processes), 2)) + x.totalClockJump
}

// HasClockReadingWaiter reports whether a waiting task has read a clock in its current round.
func (x *Execution) HasClockReadingWaiter() bool {
	return slices.ContainsFunc(x.tasks, func(t *Task) bool { return t.isLive() && t.waiting && (t.round.readClock || t.round.timeDependent) })
}

// AdvanceBy advances the virtual time. The schedule gets no transition for this.
func (x *Execution) AdvanceBy(d time.Duration) {
	x.advanceTo(x.now + d)
	x.settle()
}

// The rest of this file has read-only queries about the current state, for a reader who steps through a schedule.

// Standstill is the reason why a running actor makes no progress until something else happens.
type Standstill uint8

// The reasons for a standstill.
const (
	NoStandstill  Standstill = iota // no standstill: the actor can take a step
	AsksInVain                      // pause between two attempts at the lock; the next attempt would get the same replies
	WaitsForTime                    // wait that a timer ends, unless something else ends it earlier
	WaitsForReply                   // wait for a node that does not answer
	WaitsForOther                   // wait for a message, or for another goroutine of its process
)

// Standstill returns the reason why a makes no progress, and, for WaitsForTime, the virtual time at which its timer is due.
func (a *Actor) Standstill() (why Standstill, due time.Duration) {
	t := a.mainTask
	switch {
	case t.awaitsReply:
		return WaitsForReply, 0
	case t.isInBriefSleep() && t.wouldRepeat():
		return AsksInVain, 0
	case !t.waiting || t.undecided || t.isInBriefSleep():
		return NoStandstill, 0
	case t.waitTimer != nil && !t.waitTimer.stopped && t.waitTimer.dueAt < Forever:
		return WaitsForTime, t.waitTimer.dueAt
	default:
		return WaitsForOther, 0
	}
}

// Snapshot is the part of an execution's state that is shown to a reader beside what the servers hold.
type Snapshot struct {
	RemainingBudget fault.Budget // faults that may still happen
	Timers          []Timer      // timers that time will fire, in the order in which they were set
	Messages        []Message    // messages under way to a listener
}

// Timer is a timer that is set, as a reader sees it.
type Timer struct {
	Actor   string       `json:"actor"` // name of the actor that has set it
	FiresIn trace.Millis `json:"in_ms"` // time until it fires; 0: it is due
}

// Message is a published message that has not arrived.
type Message struct {
	Receiver string `json:"to"` // process that will receive it
	Channel  string `json:"channel"`
	Text     string `json:"text"`
}

// Snapshot returns a snapshot of the current state. It includes the timers of a paused process, which fire when the process resumes.
func (x *Execution) Snapshot() Snapshot {
	s := Snapshot{x.budget, []Timer{}, []Message{}}
	for _, t := range x.timers {
		s.Timers = append(s.Timers, Timer{t.actor.Name, trace.Millis(max(t.dueAt-x.now, 0))})
	}
	for _, l := range x.listeners {
		for _, text := range l.messages {
			if l.notify != nil {
				s.Messages = append(s.Messages, Message{l.actor.Process.Name, l.channel, text})
			}
		}
	}
	return s
}

// HasTimer reports whether a timer of a running process is set.
func (x *Execution) HasTimer() bool { return x.timers.earliest() != nil }
