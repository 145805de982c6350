// Package witness records what the locks of a running service did, and diagnoses it.
//
// A Recorder records each command of a replica's locks, with its reply and both times, and the moments of each sale; it serves them as a
// stream of Events (recorder.go, stream.go). An observer follows the streams of all replicas, for example with a Collector, and passes the
// events one at a time to an Account (account.go). The account tracks the true holder of the lock (key_tracker.go, holding.go), the waiters
// (waits.go) and the sales in the critical section (sale.go), and reports everything that goes wrong as a Finding with a sentence
// (finding.go, finding_texts.go). It can be drawn as a sequence diagram (trace.go) and told as a story (story.go).
//
// Begin with Event and Account.
package witness

import (
	"time"

	"lockstep/internal/redis/meaning"
	"lockstep/internal/service"
	"lockstep/internal/trace"
)

// Event is an action of a replica, or something that happened to a replica or to a Redis.
type Event struct {
	ID      uint64    `json:"id"`      // 1-based number in the order of the replica's recording
	Replica string    `json:"replica"` // name of the replica; empty: the event is about a Redis
	Kind    Kind      `json:"kind"`
	Sale    string    `json:"sale,omitempty"`    // short name: r1#3 is the third sale that r1 began; empty: no sale
	Owner   string    `json:"owner,omitempty"`   // owner value of the sale; only with KindAsks, KindOrder…, and commands after the sale's end
	Process string    `json:"process,omitempty"` // unique name of the replica's process, part of its owner values; only with KindAsks
	Run     string    `json:"run,omitempty"`     // id of the sale's run; only with KindAsks
	Sent    time.Time `json:"sent"`              // time at which the command was sent, or the event happened
	Replied time.Time `json:"replied"`           // time at which the command ended; for other events the same as Sent
	Token   int64     `json:"token,omitempty"`   // fencing token of the lock or the command; 0: none
	Segment int       `json:"segment,omitempty"` // 1-based stock segment; 0: the whole stock
	Tick    int       `json:"tick,omitempty"`    // 1-based tick of a scheduled job; 0: none
	Cache   bool      `json:"cache,omitempty"`   // the job computes a cached value, which expires at each tick
	Error   string    `json:"error,omitempty"`   // error that ended the sale, or why a command has no reply
	Code    string    `json:"code,omitempty"`    // error code, see reason.Reason; with KindOrder… events the buyer's answer, empty: sold
	Node    int       `json:"node,omitempty"`    // 1-based Redlock master; 0: the Redis that holds the stock
	Nodes   int       `json:"nodes,omitempty"`   // number of Redlock masters, if the command went to one of them

	Command *Command `json:"command,omitempty"` // nil unless Kind is KindCommand
}

// Command is a Redis command with its reply, and what they mean for the lock or the stock.
type Command struct {
	Name  string `json:"name"`            // command's name, or its script's
	Text  string `json:"text"`            // complete command with its arguments
	Reply string `json:"reply"`           // text of the reply; empty: there was none
	Polls int    `json:"polls,omitempty"` // number of refused attempts since the last recorded command; the first refusal is recorded itself

	LastPoll time.Time `json:"polled,omitzero"` // time at which the last of Polls was sent; zero: there was none

	Verb    Verb    `json:"verb,omitempty"`    // effect of the command on the lock or the stock
	Outcome Outcome `json:"outcome,omitempty"` // whether the command had that effect
	Holder  string  `json:"holder,omitempty"`  // owner for whom the command was sent: a sale, or a replica whose sales share one holding
	TTL     Millis  `json:"ttl_ms,omitempty"`  // expiry that the command sets; 0: none
	Stock   int64   `json:"stock,omitempty"`   // stock that was read or written
	Forced  bool    `json:"forced,omitempty"`  // the command checks neither whether the lock exists nor who owns it
}

// Millis is a duration that JSON shows in milliseconds.
type Millis = trace.Millis

// Kind is the kind of an Event.
type Kind string

// The kinds of events that a Recorder records. Those made from a service.Moment mark the moments of a sale.
const (
	KindCommand Kind = "command" // a client of the replica sent a command to Redis
	KindGap     Kind = "gap"     // the recorder dropped events before this one

	KindAsks     = Kind(service.Asks)     // the sale asks for the lock
	KindObtains  = Kind(service.Obtains)  // the sale has obtained the lock and enters the critical section
	KindLoses    = Kind(service.Loses)    // the sale learns that its lock is lost
	KindLeaves   = Kind(service.Leaves)   // the sale leaves the critical section and begins to release the lock
	KindReleased = Kind(service.Released) // the release has ended, possibly with an error
	KindEnds     = Kind(service.Ends)     // the sale is over: sold, or failed with an error

	// Faults of a replica. They are recorded by whoever injects the fault, because the replica cannot.
	KindDies            Kind = "dies"    // the replica's process dies
	KindStops           Kind = "stops"   // the replica's process is stopped, with all its timers
	KindResumes         Kind = "goes-on" // the stopped replica resumes
	KindCommandHeld     Kind = "held"    // a command of the replica is held on its way to Redis
	KindCommandReleased Kind = "freed"   // the held command reaches Redis
	KindCutOff          Kind = "cut"     // the replica is cut off from Redis
	KindReconnects      Kind = "mended"  // the replica reaches Redis again
	KindCommandLost     Kind = "lost"    // a command of the replica, or its reply, is lost on its way

	// Faults of one Redis. Replica is empty.
	KindEmptied          Kind = "emptied"      // Redis restarts without its data
	KindCrashes          Kind = "crashes"      // Redis is down, and stays so
	KindReplicationStops Kind = "lags"         // replication to the Redis replica stops
	KindFailsOver        Kind = "fails-over"   // the Redis replica is promoted to master
	KindRolledBack       Kind = "rolled-back"  // Redis restarts with an older snapshot
	KindEvicted          Kind = "evicted"      // Redis is out of memory, and has evicted keys
	KindMessageLost      Kind = "message-lost" // a pub/sub message to a replica is lost on its way
)

// Faults of Redis as a whole, or of one reply. They are recorded by whoever injects the fault.
const (
	KindRedisUnreachable Kind = "redis-ends"   // no replica reaches Redis
	KindRedisReachable   Kind = "redis-begins" // all replicas reach Redis again
	KindRedisHangs       Kind = "redis-hangs"  // Redis executes nothing for some time
	KindReplyHeld        Kind = "unheard"      // Redis executed a command of the replica, and its reply is held
	KindCommandResent    Kind = "resent"       // Redis executed a command of the replica twice, because the client sent it again
)

// Events of a scheduled job, read from its record in Redis. A run of the job has a name like a sale's: r1#2 is the second that r1 began.
const (
	KindTickBegins Kind = "tick"   // a tick of the job is due
	KindRunBegins  Kind = "runs"   // a replica begins to run the job for a tick
	KindRunEnds    Kind = "ran"    // the run is over
	KindLockTried  Kind = "tries"  // a replica tried to take the job's lock, for any tick
	KindTickMissed Kind = "missed" // a tick is over; no replica ran the job for it, and no earlier run was going on

	KindLockRefused Kind = "refused" // a replica was refused the job's lock
)

// Events from the comparison of the ledger, read at the end, with the answers to buyers. Owner is the owner value of the sale. Code is the
// error code in the answer to its buyer; empty: the sale succeeded.
const (
	KindOrderBooked     Kind = "booked"   // the ledger has the sale's order
	KindOrderMissing    Kind = "unbooked" // the ledger lacks the sale's order
	KindOrderDuplicated Kind = "resold"   // the ledger has the sale's order more than once
)

// isDataLoss reports whether a Redis may have lost keys in this event.
func (e Event) isDataLoss() bool {
	switch e.Kind {
	case KindEmptied, KindCrashes, KindFailsOver, KindRolledBack, KindEvicted:
		return true
	default:
		return false
	}
}

// Verb is the effect of a command on the lock or the stock.
type Verb = meaning.Verb

// The verbs of package meaning.
const (
	Takes   = meaning.Takes   // takes the lock, or tries to
	Looks   = meaning.Looks   // reads the key of the lock
	Renews  = meaning.Renews  // sets the expiry of the lock again
	Removes = meaning.Removes // deletes the lock, or releases it once
	Reads   = meaning.Reads   // reads the stock
	Writes  = meaning.Writes  // writes the stock
)

// Outcome is the result of a command.
type Outcome = meaning.Outcome

// The outcomes of package meaning.
const (
	Done     = meaning.Done     // done, and none of the special cases below
	Again    = meaning.Again    // done: a nested call took or released the holder's lock, or the ledger has the order already
	ByOther  = meaning.ByOther  // not done: another owner holds the lock
	ByNobody = meaning.ByNobody // not done: the lock is free
	NotOwner = meaning.NotOwner // not done: the lock is free or held by another owner
	Refused  = meaning.Refused  // not done: the lock is held, or the fencing token of the sale is stale
	Unknown  = meaning.Unknown  // no reply, so the command may have been executed
	Over     = meaning.Over     // not done: the run of the sale is over
	Passed   = meaning.Passed   // done: the lock was released to the first waiter in the queue
)
