// Package witness is what the locks of the running service did, as plain values, and what it means.
//
// A Recorder notes each command of a replica's locks with both its times and its reply, and the moments of each sale; it serves them as a
// stream (stream.go). Whoever watches follows the streams of all replicas, perhaps into a Collector, and tells an Account of the events one
// by one (account.go): it knows whose the lock is in truth (key_tracker.go, holding.go), who waits, who is inside (sale.go), and what goes wrong,
// each finding with a sentence in plain words (finding.go, finding_texts.go). It can be drawn (trace.go), and told (story.go).
package witness

import (
	"time"

	"lockstep/internal/redis/meaning"
	"lockstep/internal/service"
	"lockstep/internal/trace"
)

// Event is one thing that happened in a replica, or to it.
type Event struct {
	ID      uint64    `json:"id"` // in the order in which the replica noted them, from 1 on
	Replica string    `json:"replica"`
	Kind    Kind      `json:"kind"`
	Sale    string    `json:"sale,omitempty"`    // the short name: r1#3 is the third that r1 has begun; "" of none
	Owner   string    `json:"owner,omitempty"`   // the sale's name in commands; of Asks, of what the ledger holds, of a sale that has ended
	Process string    `json:"process,omitempty"` // the replica's name in commands; of Asks alone
	Run     string    `json:"run,omitempty"`     // the sale's; of Asks alone
	Sent    time.Time `json:"sent"`
	Replied time.Time `json:"replied"` // when it was over; for a moment as Sent
	Token   int64     `json:"token,omitempty"`
	Segment int       `json:"segment,omitempty"` // of the stock, from 1 on, that it concerns; 0: the whole
	Tick    int       `json:"tick,omitempty"`    // of a job, from 1 on
	Error   string    `json:"error,omitempty"`   // of a command: why there was no reply
	Code    string    `json:"code,omitempty"`    // of the end of a sale: see reason.Reason; of what the ledger holds: what the buyer was told
	Node    int       `json:"node,omitempty"`    // the master that it concerns, from 1 on; 0: the Redis with the stock
	Nodes   int       `json:"nodes,omitempty"`   // of a command on one of them: how many there are

	Command *Command `json:"command,omitempty"` // of KindCommand
}

// Command is a Redis command with its reply, and what they mean for the lock or the stock.
type Command struct {
	Name  string `json:"name"` // for short
	Text  string `json:"text"` // all of it
	Reply string `json:"reply"`
	Polls int    `json:"polls,omitempty"` // how often the sale was refused before, unnoted, as it was at first

	LastPoll time.Time `json:"polled,omitzero"` // when the last of Polls was sent

	Verb    Verb    `json:"verb,omitempty"`
	Outcome Outcome `json:"outcome,omitempty"`
	Holder  string  `json:"holder,omitempty"` // in whose name: a sale, or a replica whose sales have the lock one after the other
	TTL     Millis  `json:"ttl_ms,omitempty"` // that it sets; 0: none
	Stock   int64   `json:"stock,omitempty"`  // read or written
	Forced  bool    `json:"forced,omitempty"` // it looks neither whether there is a lock nor whose it is
}

// Millis is a duration that JSON shows in milliseconds.
type Millis = trace.Millis

// Kind says what an event is.
type Kind string

// The kinds. The others are the moments of a sale, see service.Moment.
const (
	KindCommand Kind = "command"
	KindGap     Kind = "gap" // events before this one were forgotten

	KindAsks     = Kind(service.Asks)
	KindObtains  = Kind(service.Obtains)
	KindLoses    = Kind(service.Loses)
	KindLeaves   = Kind(service.Leaves)
	KindReleased = Kind(service.Released)
	KindEnds     = Kind(service.Ends)

	// What a replica cannot note itself; who does it, does.
	KindDies            Kind = "dies"
	KindStops           Kind = "stops"   // it is stopped, timers and all
	KindResumes         Kind = "goes-on" // it goes on
	KindCommandHeld     Kind = "held"    // a command of it is held on its way to Redis
	KindCommandReleased Kind = "freed"   // and arrives
	KindCutOff          Kind = "cut"     // it is cut off from Redis
	KindReconnects      Kind = "mended"  // and reaches it again
	KindCommandLost     Kind = "lost"    // a command of it, or the reply, is lost on its way

	// What happens to a Redis. Of these, Replica is empty.
	KindEmptied          Kind = "emptied"      // it restarts without what it held
	KindCrashes          Kind = "crashes"      // it is gone for good
	KindReplicationStops Kind = "lags"         // its replica hears nothing more of it
	KindFailsOver        Kind = "fails-over"   // that replica takes its place
	KindRolledBack       Kind = "rolled-back"  // it restarts with an older snapshot
	KindEvicted          Kind = "evicted"      // it is out of memory, and has evicted keys
	KindMessageLost      Kind = "message-lost" // a message to it is lost on its way
)

// What happens to Redis itself, or to one command of a replica on its way back. Who does it, notes it.
const (
	KindRedisUnreachable Kind = "redis-ends"   // nobody reaches Redis any more
	KindRedisReachable   Kind = "redis-begins" // everybody does again
	KindRedisHangs       Kind = "redis-hangs"  // for some time it executes nothing
	KindReplyHeld        Kind = "unheard"      // a command of the replica is done, and the reply is held
	KindCommandResent    Kind = "resent"       // a command of the replica is done twice: its client has sent it again
)

// What becomes of a scheduled job, as its record in Redis tells. A run has a sale's name: r1#2 is the second that r1 has begun.
const (
	KindTickBegins Kind = "tick"   // a tick begins
	KindRunBegins  Kind = "runs"   // a run of a tick begins
	KindRunEnds    Kind = "ran"    // it is over
	KindLockTried  Kind = "tries"  // a replica has asked for the job's lock, at some tick
	KindTickMissed Kind = "missed" // a tick is over that nobody has run, though no run was going on
)

// What the ledger holds in the end of a sale whose buyer got an answer. The event's Owner is the sale's, and its Code is what the
// buyer was told, empty if it was told that it was sold.
const (
	KindOrderBooked     Kind = "booked"   // the ledger has its order
	KindOrderMissing    Kind = "unbooked" // it has not
	KindOrderDuplicated Kind = "resold"   // it has its order more than once
)

func (e Event) isDataLoss() bool {
	switch e.Kind {
	case KindEmptied, KindCrashes, KindFailsOver, KindRolledBack, KindEvicted:
		return true
	default:
		return false
	}
}

// Verb is what a command does with the lock or the stock.
type Verb = meaning.Verb

// The verbs.
const (
	Takes   = meaning.Takes
	Looks   = meaning.Looks
	Renews  = meaning.Renews
	Removes = meaning.Removes
	Reads   = meaning.Reads
	Writes  = meaning.Writes
)

// Outcome is what became of a command.
type Outcome = meaning.Outcome

// The outcomes.
const (
	Done     = meaning.Done
	Again    = meaning.Again
	ByOther  = meaning.ByOther
	ByNobody = meaning.ByNobody
	NotOwner = meaning.NotOwner
	Refused  = meaning.Refused
	Unknown  = meaning.Unknown
	Over     = meaning.Over
	Passed   = meaning.Passed
)
