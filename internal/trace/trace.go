// Package trace defines schedules and recordings as values, step by step, and draws them: as a sequence diagram for a terminal, and as a
// Mermaid diagram.
package trace

import (
	"strconv"
	"strings"
	"time"

	"lockstep/internal/language"
)

// Trace is one schedule of a few actors, step by step, to be read and drawn.
type Trace struct {
	Actors  []string `json:"actors"`          // names of the actors
	Nodes   int      `json:"nodes,omitempty"` // independent masters that hold the lock; 0: the lock is in the Redis with the stock
	Steps   []Step   `json:"steps"`           // steps in order
	Verdict string   `json:"says"`            // sentence about the anomaly at the end; "": there is none

	Language language.Language `json:"language,omitempty"` // language of all sentences; "": English
}

// Step is one event of a trace, and the state after it.
type Step struct {
	Token       string `json:"token"`           // step in the notation of schedules, such as A:reply
	Actor       string `json:"actor"`           // name of the actor that acts; "": time or Redis acts
	Task        string `json:"task"`            // name of the actor's goroutine that acts; "": its main goroutine
	Kind        string `json:"kind"`            // one of the Kind… constants
	Command     string `json:"command"`         // Redis command; "": none was sent
	Reply       string `json:"reply"`           // reply of Redis, even if it was lost
	Says        string `json:"says"`            // sentence about the meaning of the step
	Fault       string `json:"fault"`           // id of the fault; "": the step is not a fault
	Title       string `json:"title,omitempty"` // display name of Fault in the language of the trace; "": the same as Fault
	Node        int    `json:"node"`            // 1-based node that Command was sent to; 0: the Redis with the stock
	SentEarlier bool   `json:"sent,omitempty"`  // an earlier step of KindLate has drawn the sending of Command
	Notable     bool   `json:"-"`               // true: Says mentions a change that no other field shows

	// State after the step:
	At       Millis   `json:"at_ms"`           // virtual time since the start
	Lock     string   `json:"lock"`            // true holder; "": the lock is free; Nobody: it belongs to no actor
	Expires  Millis   `json:"expires_ms"`      // time left until the lock expires; 0: it never does
	Stock    string   `json:"stock"`           // stock in Redis
	Standing []Stance `json:"standing"`        // stance of each actor
	Nodes    []Node   `json:"nodes,omitempty"` // state of each node; nil: the lock is in the Redis with the stock
}

// Node is the state of one of the independent masters that hold a lock.
type Node struct {
	Health Health `json:"health"` // state of the node's process
	Lock   string `json:"lock"`   // holder on this node; "": the lock is free there
}

// Nobody stands for the holder of a lock that is in Redis and belongs to no actor.
const Nobody = "nobody"

// Health is the state of a node's process.
type Health string

// The states of a node.
const (
	Well    Health = "well"
	Hung    Health = "hung" // executes commands without ever answering
	Crashed Health = "crashed"
)

// Schedule returns the schedule of the trace, in the form that explore --replay reads.
func (t Trace) Schedule() string {
	tokens := make([]string, len(t.Steps))
	for i, step := range t.Steps {
		tokens[i] = step.Token
	}
	return strings.Join(tokens, " ")
}

// Millis is a duration that JSON shows in milliseconds.
type Millis time.Duration

// MarshalJSON writes the duration as whole milliseconds.
func (m Millis) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, time.Duration(m).Milliseconds(), 10), nil
}

// UnmarshalJSON reads a number of milliseconds.
func (m *Millis) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	*m = Millis(time.Duration(n) * time.Millisecond)
	return err
}

// The kinds of steps.
const (
	KindCommand   = "command"    // a command was executed and answered
	KindLostReply = "lost-reply" // a command took effect, and its reply was lost
	KindDies      = "dies"       // the actor's process died, after Command took effect if there is one
	KindReadsLate = "reads-late" // a command took effect, and its sender was paused before it read the reply
	KindPauses    = "pauses"     // the actor's process was paused
	KindResumes   = "resumes"    // the actor's process resumed
	KindLeaves    = "leaves"     // the actor's client cancelled its request
	KindWoken     = "woken"      // a wake-up message reached the actor
	KindLostWake  = "lost-wake"  // a wake-up message was lost
	KindTime      = "time"       // time passed

	KindLostRequest = "lost-request"  // a command was lost before it reached Redis
	KindLate        = "late"          // a command is delayed; in the explorer its sender has got an error
	KindArrives     = "arrives"       // a delayed command took effect, and nobody waits for its reply
	KindNeverComes  = "never-arrives" // a delayed command was lost
	KindResends     = "resends"       // a command took effect, its reply was lost, and the client will send the command again
	KindUnsynced    = "unsynced"      // a command was answered; the replica or snapshot gets neither this change nor later ones
	KindFailover    = "failover"      // the replica became the master
	KindRestarts    = "restarts"      // server Node restarted, empty or with an older snapshot
	KindEvicts      = "evicts"        // Redis evicted the lock
	KindCrashes     = "crashes"       // server Node went down, and stays so
	KindLags        = "lags"          // the replica of the master stopped receiving writes
	KindClock       = "clock"         // the clock of an actor's process, or of Redis, jumped
	KindNodeClock   = "node-clock"    // a node whose clock has jumped answered a command
	KindTimesOut    = "times-out"     // the actor's wait timed out

	KindBegins = "begins" // the actor began or woke up, and is about to send a command
	KindWaits  = "waits"  // the actor went on without a command, and waits
	KindEnds   = "ends"   // the actor went on without a command, and ended

	KindSubscribes = "subscribes" // the actor subscribed to a channel
)

// Stance is the state of an actor: whether it is running, and whether it believes that it holds the lock.
type Stance string

// The stances.
const (
	Absent  Stance = "absent"  // has not begun
	Outside Stance = "outside" // believes that it does not hold the lock
	Inside  Stance = "inside"  // believes that it holds the lock
	Paused  Stance = "paused"  // paused, and believes that it does not hold the lock

	PausedInside Stance = "paused-inside" // paused, and believes that it holds the lock
	Ended        Stance = "ended"
	Dead         Stance = "dead"
)
