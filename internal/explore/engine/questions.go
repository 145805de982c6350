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
func (a *Actor) InVain() bool {
	t := a.main
	return t.waiting && !t.torn && (t.sleep == nil || t.asleep() && t.wouldRepeat() || t.isPausedInVain())
}

// Queues reports whether it waits for something else than a command's answer or the end of a short pause.
func (a *Actor) Queues() bool { return a.main.waiting && !a.main.asleep() }

// TimerNext reports whether the next thing that time would bring is a timer, and no expiry.
func (x *Execution) TimerNext() bool {
	expiry, next := x.Cluster.NextExpiry(), x.timers.next()
	return next != nil && (expiry == 0 || next.at < x.now+expiry)
}

// Outlived gives, for each task that still runs although all actors of its process have finished, the actor it was for. Those that have
// still to hear from a node do not count, as their client bounds that; nor do those that answer a message by a command, as they work for
// their process, or whose wait has ended; nor those of a process that is paused, as they may end when it goes on.
func (x *Execution) Outlived() (all []*Actor) {
	for _, p := range x.processes {
		if !p.IsOver() || p.awaitsNode() {
			continue
		}
		for _, t := range x.tasks {
			goesOn := t.notified && t.acts() || t.torn
			if t.actor.Process == p && !t.Ended() && !goesOn {
				all = append(all, t.actor)
			}
		}
	}
	return all
}

// awaitsNode reports whether a task of p has still to hear from a node.
func (p *Process) awaitsNode() bool {
	return slices.ContainsFunc(p.x.tasks, func(t *Task) bool {
		return t.actor.Process == p && !t.Ended() && (t.unanswered || t.pending != nil && t.to > 0)
	})
}

// Pending returns what the actor itself has sent and Redis has not executed; nil: nothing.
func (a *Actor) Pending() []redis.Cmder { return a.main.pending }

// Ahead returns how far clocks may be apart.
func (x *Execution) Ahead() time.Duration {
	return x.Scenario.Skew*time.Duration(min(len(x.processes), 2)) + x.jumped
}

// IsReading reports whether one of those who wait looks at a clock.
func (x *Execution) IsReading() bool {
	return slices.ContainsFunc(x.tasks, func(t *Task) bool { return t.live() && t.waiting && (t.round.looked || t.round.timed) })
}

// AdvanceBy lets time pass behind everybody's back: no schedule can say so.
func (x *Execution) AdvanceBy(d time.Duration) {
	x.pass(x.now + d)
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
	t := a.main
	switch {
	case t.unanswered:
		return WaitsForReply, 0
	case t.asleep() && t.wouldRepeat():
		return AsksInVain, 0
	case !t.waiting || t.torn || t.asleep():
		return Free, 0
	case t.sleep != nil && !t.sleep.stopped && t.sleep.at < Forever:
		return WaitsForTime, t.sleep.at
	default:
		return WaitsForOther, 0
	}
}

// Snapshot is what a reader of a schedule may want to know of its present state, beside what the servers hold.
type Snapshot struct {
	Left     fault.Budget
	Timers   []Timer
	Messages []Message
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
	s := Snapshot{x.left, []Timer{}, []Message{}}
	for _, t := range x.timers {
		s.Timers = append(s.Timers, Timer{t.actor.Name, trace.Millis(max(t.at-x.now, 0))})
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
func (x *Execution) HasTimer() bool { return x.timers.next() != nil }
