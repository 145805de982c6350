package engine

import (
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore/fault"
	"lockstep/internal/trace"
)

// What a judge and a recorder may want to know.

// InVain reports whether a waits for what time alone will not bring.
func (a *Actor) IsWaitingInVain() bool {
	t := a.mainTask
	return t.waiting && !t.undecided && (t.waitTimer == nil || t.isInBriefSleep() && t.wouldRepeat() || t.isInFutileSleep())
}

// Queues reports whether it waits for something else than a command's answer or the end of a short pause.
func (a *Actor) IsQueued() bool { return a.mainTask.waiting && !a.mainTask.isInBriefSleep() }

// TimerNext reports whether the next thing that time would bring is a timer, and no expiry.
func (x *Execution) IsTimerNext() bool {
	expiry, next := x.Cluster.NextExpiry(), x.timers.earliest()
	return next != nil && (expiry == 0 || next.dueAt < x.now+expiry)
}

// Outlived gives, for each task that still runs although all actors of its process have finished, the actor it was for. Those that have
// still to hear from a node do not count, as their client bounds that; nor do those that answer a message by a command, as they work for
// their process, or whose wait has ended; nor those of a process that is paused, as they may end when it goes on.
func (x *Execution) ActorsOfOutlivingTasks() (all []*Actor) {
	for _, p := range x.processes {
		if !p.IsOver() || p.isAwaitingNode() {
			continue
		}
		for _, t := range x.tasks {
			goesOn := t.startedByMessage && t.hasAction() || t.undecided
			if t.actor.Process == p && !t.Ended() && !goesOn {
				all = append(all, t.actor)
			}
		}
	}
	return all
}

// awaitsNode reports whether a task of p has still to hear from a node.
func (p *Process) isAwaitingNode() bool {
	return slices.ContainsFunc(p.x.tasks, func(t *Task) bool {
		return t.actor.Process == p && !t.Ended() && (t.awaitsReply || t.pending != nil && t.server > 0)
	})
}

// Pending returns what the actor itself has sent and Redis has not executed; nil: nothing.
func (a *Actor) Pending() []redis.Cmder { return a.mainTask.pending }

// Ahead returns how far clocks may be apart.
func (x *Execution) MaxClockDifference() time.Duration {
	return x.Scenario.Skew*time.Duration(min(len(x.processes), 2)) + x.totalClockJump
}

// IsReading reports whether one of those who wait looks at a clock.
func (x *Execution) HasClockReadingWaiter() bool {
	return slices.ContainsFunc(x.tasks, func(t *Task) bool { return t.isLive() && t.waiting && (t.round.readClock || t.round.timeDependent) })
}

// AdvanceBy lets time pass behind everybody's back: no schedule can say so.
func (x *Execution) AdvanceBy(d time.Duration) {
	x.advanceTo(x.now + d)
	x.settle()
}

// What a reader of a schedule may want to know of its present state. Nothing here changes anything.

// Standstill says why an actor that runs does nothing by itself.
type Standstill uint8

// The reasons.
const (
	Free          Standstill = iota // it can do something
	AsksInVain                      // it waits for a moment, and would be told what it was told before
	WaitsForTime                    // it waits for a timer, and perhaps for something that comes before
	WaitsForReply                   // it waits for a node that does not answer
	WaitsForOther                   // it waits for a message, or for another goroutine of its process
)

// Standstill says why a does nothing by itself, and, if it waits for a timer, when that is due.
func (a *Actor) Standstill() (why Standstill, due time.Duration) {
	t := a.mainTask
	switch {
	case t.awaitsReply:
		return WaitsForReply, 0
	case t.isInBriefSleep() && t.wouldRepeat():
		return AsksInVain, 0
	case !t.waiting || t.undecided || t.isInBriefSleep():
		return Free, 0
	case t.waitTimer != nil && !t.waitTimer.stopped && t.waitTimer.dueAt < Forever:
		return WaitsForTime, t.waitTimer.dueAt
	default:
		return WaitsForOther, 0
	}
}

// Snapshot is what a reader of a schedule may want to know of its present state, beside what the servers hold.
type Snapshot struct {
	RemainingBudget fault.Budget
	Timers          []Timer
	Messages        []Message
}

// Timer is one that is set.
type Timer struct {
	Actor string       `json:"actor"`
	In    trace.Millis `json:"in_ms"`
}

// Message is one that has not arrived.
type Message struct {
	To      string `json:"to"` // a process
	Channel string `json:"channel"`
	Text    string `json:"text"`
}

// Snapshot returns the timers that time will bring, in the order in which they were set, and the messages that are under way to somebody
// who listens. The timers of a process that is paused wait for it.
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

// HasTimer reports whether a timer is set for a process that runs.
func (x *Execution) HasTimer() bool { return x.timers.earliest() != nil }
