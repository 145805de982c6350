package execution

import (
	"time"

	"lockstep/internal/explore/scenario"
	"lockstep/internal/explore/trace"
)

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
func (x *Execution) Standstill(a *Actor) (why Standstill, due time.Duration) {
	t := a.main
	switch {
	case t.unanswered:
		return WaitsForReply, 0
	case t.asleep() && x.wouldRepeat(t):
		return AsksInVain, 0
	case !t.waiting || t.asleep():
		return Free, 0
	case t.sleep != nil && !t.sleep.stopped && t.sleep.at < scenario.Forever:
		return WaitsForTime, t.sleep.at
	default:
		return WaitsForOther, 0
	}
}

// Left returns what is left of the budgets.
func (x *Execution) Left() scenario.Faults { return x.left }

// Timer is one that is set.
type Timer struct {
	Actor string       `json:"actor"`
	In    trace.Millis `json:"in_ms"`
}

// Timers returns those that time will bring, in the order in which they were set. Those of a process that is paused wait for it.
func (x *Execution) Timers() []Timer {
	all := []Timer{}
	for _, t := range x.timers {
		all = append(all, Timer{t.actor.Name, trace.Millis(max(t.at-x.now, 0))})
	}
	return all
}

// Message is one that has not arrived.
type Message struct {
	To      string `json:"to"` // a process
	Channel string `json:"channel"`
	Text    string `json:"text"`
}

// Messages returns those that are under way to somebody who listens.
func (x *Execution) Messages() []Message {
	all := []Message{}
	for _, l := range x.listeners {
		for _, text := range l.messages {
			if l.notify != nil {
				all = append(all, Message{l.actor.Process.Name, l.channel, text})
			}
		}
	}
	return all
}

// PollsLeft returns how often a waiter may still ask in vain beside others.
func (x *Execution) PollsLeft() int { return x.polls }

// Ticks reports whether a timer is set for a process that runs.
func (x *Execution) Ticks() bool { return x.nextTimer() != nil }
