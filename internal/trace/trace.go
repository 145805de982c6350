// Package trace holds schedules and recordings as values, step by step, and draws them: as a sequence diagram for a terminal, and as
// a Mermaid diagram.
package trace

import (
	"strconv"
	"strings"
	"time"

	"lockstep/internal/language"
)

// Trace is one schedule of a few actors on one Redis, step by step, for people to read and for pictures.
type Trace struct {
	Actors  []string `json:"actors"`
	Nodes   int      `json:"nodes,omitempty"` // masters that the lock is on, beside the Redis with the stock; 0: it is on that one, too
	Steps   []Step   `json:"steps"`
	Verdict string   `json:"says"` // what is broken in the end, in words; "" if nothing is

	Language language.Language `json:"language,omitempty"` // of the words; "": English
}

// Step is one thing that happened.
type Step struct {
	Token   string `json:"token"`           // as schedules write it
	Actor   string `json:"actor"`           // who did it; "" for time
	Task    string `json:"task"`            // the goroutine that did it, if its actor has started that; "" for the actor itself
	Kind    string `json:"kind"`            // one of the kinds
	Command string `json:"command"`         // sent to Redis; "" if none was
	Reply   string `json:"reply"`           // from Redis, whether it arrived or not
	Says    string `json:"says"`            // what it means
	Fault   string `json:"fault"`           // the fault of the scenario that it is, "" if it is none
	Title   string `json:"title,omitempty"` // Fault, as people call it in the language of the trace; "": as it is
	Node    int    `json:"node"`            // the master that Command was for, counted from 1; 0: the Redis with the stock
	Sent    bool   `json:"sent,omitempty"`  // Command was drawn before, when it was sent, as KindLate
	Notable bool   `json:"-"`               // Says tells of a change that nothing else here shows

	// What is so after it:
	At       Millis   `json:"at_ms"` // of virtual time
	Lock     string   `json:"lock"`  // whose it is in truth; "" if nobody's
	Expires  Millis   `json:"expires_ms"`
	Stock    string   `json:"stock"`
	Standing []Stance `json:"standing"` // of each actor
	Nodes    []Node   `json:"nodes,omitempty"`
}

// Node is what is so on one of several masters that a lock is on.
type Node struct {
	Health Health `json:"health"`
	Lock   string `json:"lock"` // whose it is there; "" if nobody's
}

// Nobody has a lock that is there, but is no actor's.
const Nobody = "nobody"

// Health says whether a node answers.
type Health string

// The states of health.
const (
	Well    Health = "well"
	Hung    Health = "hung" // it executes commands, and never answers
	Crashed Health = "crashed"
)

// Schedule writes the trace as what replays it.
func (t Trace) Schedule() string {
	tokens := make([]string, len(t.Steps))
	for i, step := range t.Steps {
		tokens[i] = step.Token
	}
	return strings.Join(tokens, " ")
}

// Millis is a duration that JSON shows in milliseconds.
type Millis time.Duration

// MarshalJSON writes whole milliseconds.
func (m Millis) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, time.Duration(m).Milliseconds(), 10), nil
}

// UnmarshalJSON reads them.
func (m *Millis) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	*m = Millis(time.Duration(n) * time.Millisecond)
	return err
}

// The kinds of steps.
const (
	KindCommand   = "command"    // a command was answered
	KindLostReply = "lost-reply" // a command took effect, and its sender will never know
	KindDies      = "dies"       // its process died: after Command took effect, or before anything was sent
	KindReadsLate = "reads-late" // a command took effect, and its sender stopped before it had read the reply
	KindPauses    = "pauses"
	KindResumes   = "resumes"
	KindLeaves    = "leaves"    // its client went away
	KindWoken     = "woken"     // a hint reached it
	KindLostWake  = "lost-wake" // a hint did not
	KindTime      = "time"

	KindLostRequest = "lost-request"  // a command will never take effect
	KindLate        = "late"          // a command will take effect later; of the explorer: its sender has got an error
	KindArrives     = "arrives"       // now it has taken effect, and nobody gets the reply
	KindNeverComes  = "never-arrives" // a command that was on its way never takes effect
	KindResends     = "resends"       // a command took effect, the reply is lost, and the client is about to send it again
	KindUnsynced    = "unsynced"      // a command was answered, and a replica, or a snapshot, gets neither this nor what follows
	KindFailover    = "failover"      // that replica is the master now
	KindRestarts    = "restarts"      // a server, that of Node, restarted empty, or with an older snapshot
	KindEvicts      = "evicts"        // Redis evicted the lock
	KindCrashes     = "crashes"       // it is gone for good
	KindLags        = "lags"          // its replica gets nothing more
	KindClock       = "clock"         // a clock jumps: of an actor's process, or of Redis
	KindNodeClock   = "node-clock"    // a command was answered by a node whose clock has jumped
	KindTimesOut    = "times-out"     // its timeout came

	KindBegins = "begins" // it began, or woke up, and is about to send a command
	KindWaits  = "waits"  // it went on without a command, to wait
	KindEnds   = "ends"   // it went on without a command, to its end

	KindSubscribes = "subscribes" // it begins to get the messages of a channel
)

// Stance is where an actor stands.
type Stance string

// The stances.
const (
	Absent  Stance = "absent"  // it has not begun
	Outside Stance = "outside" // it does not hold the lock, as far as it knows
	Inside  Stance = "inside"  // it holds the lock, as far as it knows
	Paused  Stance = "paused"

	PausedInside Stance = "paused-inside" // it is paused, and believes that it holds the lock
	Ended        Stance = "ended"
	Dead         Stance = "dead"
)
