package soak

import (
	"fmt"
	"net/http"
	"time"

	"lockstep/internal/load"
	"lockstep/internal/service/history"
)

// Record is everything that was recorded in a session.
type Record struct {
	Lock          string
	Began         time.Time     // end of the warm-up
	Ended         time.Time     // time when the buyers were told to stop
	Sales         []Sale        // all requests to buy
	Faults        []Injected    // faults in the order of the plan
	Orders        []Entry       // all orders that were in a ledger when it was read
	Snapshots     []Snapshot    // states of the current run, taken every snapshotInterval and at each reading of the ledgers
	Lookups       []OrderLookup // lookups of the requests of unknown outcome
	ReplicaOutput string        // last output of the replicas
}

// Sale is a request to buy, and its answer. All requests with the same Idempotency-Key are one Sale, from the start of the first request to
// the last answer.
type Sale struct {
	Start, End    time.Time
	Buyer         int    // 0-based number of the buyer
	HasKey        bool   // sent with an Idempotency-Key, and repeated while its outcome was unknown
	Repeats       int    // number of requests after the first
	OtherOrderID  string // order id that the server answered although it belongs to another key; empty: none
	Status        int    // HTTP status; 0: no answer
	Code          string // code of an error, or the reason why there was no answer; empty: sold
	OrderID       string // id of the order; empty: the answer did not name an order
	RunID         string // run of the sale; empty, like the stock and the token, unless the status is 200
	Before, After int64  // stock before and after the sale
	Fence         int64  // fencing token; 0: none
	Replica       string // replica that answered; empty: the reverse proxy
}

// isSold reports whether the answer is a receipt.
func (s Sale) isSold() bool { return s.Status == http.StatusOK }

// isBug reports whether the answer is 500, which lockstep never gives on purpose.
func (s Sale) isBug() bool { return s.Status == http.StatusInternalServerError }

// outcome returns what the answer says about the sale.
func (s Sale) outcome() outcome {
	switch {
	case s.isSold():
		return outcomeMade
	case s.Code == "no_replica":
		return outcomeNotSent
	case s.Status == 0 || load.MayHaveSold(s.Status, s.Code):
		return outcomeUnknown
	default: // sold_out, lock_timeout, lock_lost, run_over, redis_unavailable, …
		return outcomeNotMade
	}
}

// outcome is what the answer to a request says about its sale.
type outcome int

const (
	outcomeMade    outcome = iota // the sale was made
	outcomeNotMade                // the sale was not made
	outcomeNotSent                // no replica got the request, so there is no order id
	outcomeUnknown                // the sale may have been made
)

// Entry is an order in a ledger.
type Entry struct {
	Run string // id of the run to whose ledger the order belongs
	history.Order
}

// Injected is a fault that was injected, or could not be.
type Injected struct {
	Fault
	Victim     string    // name of the replica; empty: the fault is not limited to one replica
	LastReadAt time.Time // start of the last reading of the ledgers before a fault that loses orders; other faults: Begin
	Begin, End time.Time
	TargetsHit int    // number of commands held or lost, of requests cancelled, of clients cut, or of keys deleted
	Error      string // reason why the fault did not take place; empty: it did
}

// String returns the kind of the fault, its victim, and its planned duration.
func (f Injected) String() string {
	text := string(f.Kind)
	if f.Victim != "" {
		text += " " + f.Victim
	}
	if f.Duration > 0 {
		text += " for " + f.Duration.String()
	}
	return text
}

// mayHaveLost reports whether this fault may have destroyed the order of a sale before the ledgers were read.
func (f Injected) mayHaveLost(s Sale) bool {
	return f.Kind.effect().destroysLedgers && s.End.After(f.LastReadAt) && s.Start.Before(f.End)
}

// mayHaveRemoved reports whether this fault may have removed an order: a Redis that is out of memory loses the orders of earlier runs.
func (f Injected) mayHaveRemoved(order Entry) bool {
	return (f.Kind.effect().destroysLedgers || f.Kind.effect().dropsOldLedgers) && order.At.Before(f.End)
}

// Snapshot is the state of the current run at one moment between Requested and Received.
type Snapshot struct {
	Requested, Received time.Time
	history.Tally
	Orders int64 // number of orders in the ledger; Sold is the number that the run itself counted
}

// OrderLookup is the final answer of GET /orders about a sale whose outcome was unknown.
type OrderLookup struct {
	OrderID string
	Found   bool   // GET /orders found the order
	Error   string // reason why the lookup failed; empty: it succeeded
}

// offsetText formats a time as the number of seconds since Began.
func (r Record) offsetText(t time.Time) string { return fmt.Sprintf("%.2fs", t.Sub(r.Began).Seconds()) }
