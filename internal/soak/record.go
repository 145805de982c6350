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
	Began         time.Time // end of the warm-up
	Ended         time.Time // time when the buyers were told to leave
	Sales         []Sale
	Faults        []Injected
	Orders        []Entry
	Snapshots     []Snapshot
	Lookups       []OrderLookup
	ReplicaOutput string // last output of the replicas
}

// Sale is a request to buy, and its answer. With an Idempotency-Key it is all requests with that key, from the start of the first to the
// last answer.
type Sale struct {
	Start, End    time.Time
	Buyer         int    // 0-based number of the buyer
	HasKey        bool   // sent with an Idempotency-Key, and repeated while its outcome was unknown
	Repeats       int    // number of requests after the first
	OtherOrderID  string // id in an answer that does not belong to the key; empty: there was none
	Status        int    // HTTP status; 0: no answer
	Code          string // code of an error, or the reason why there was no answer
	OrderID       string // empty if the answer did not name an order
	RunID         string // run of the sale; like the next two fields, only in an answer with status 200
	Before, After int64  // stock before and after the sale
	Fence         int64  // fencing token; 0: none
	Replica       string // replica that answered; empty: the reverse proxy
}

func (s Sale) sold() bool  { return s.Status == http.StatusOK }
func (s Sale) isBug() bool { return s.Status == http.StatusInternalServerError }

func (s Sale) outcome() outcome {
	switch {
	case s.sold():
		return outcomeMade
	case s.Code == "no_replica":
		return outcomeNotSent
	case s.Status == 0 || load.MayHaveSold(s.Status, s.Code):
		return outcomeUnknown
	default: // sold_out, lock_timeout, lock_lost, run_over, redis_unavailable, …
		return outcomeNotMade
	}
}

// outcome is what the answer to a sale says about it.
type outcome int

const (
	outcomeMade outcome = iota
	outcomeNotMade
	outcomeNotSent // no replica got the request, so there is no order id
	outcomeUnknown
)

// Entry is an order in a ledger.
type Entry struct {
	Run string // run of the ledger
	history.Order
}

// Injected is a fault that was injected, or could not be.
type Injected struct {
	Fault
	Victim     string    // name of the replica, for faults of one replica
	Read       time.Time // time just before the fault; if it forgets orders, the start of the last reading of the ledgers
	Begin, End time.Time
	Caught     int    // number of commands held or lost, clients cut or gone, and keys deleted
	Error      string // reason why the fault did not take place; empty: it did
}

// String names the fault, its victim, and how long it is to last.
func (f Injected) String() string {
	text := string(f.Kind)
	if f.Victim != "" {
		text += " " + f.Victim
	}
	if f.For > 0 {
		text += " for " + f.For.String()
	}
	return text
}

// mayHaveLost reports whether this fault may have destroyed the order of a sale before the ledgers were read.
func (f Injected) mayHaveLost(s Sale) bool {
	return f.Kind.effect().destroysLedgers && s.End.After(f.Read) && s.Start.Before(f.End)
}

// mayHaveRemoved reports whether this fault may have removed an order: a Redis that is out of memory loses the orders of earlier runs.
func (f Injected) mayHaveRemoved(order Entry) bool {
	return (f.Kind.effect().destroysLedgers || f.Kind.effect().dropsOldLedgers) && order.At.Before(f.End)
}

// Snapshot is the state of the current run at one moment between the request for it and its receipt.
type Snapshot struct {
	Requested, Received time.Time
	history.Tally
	Orders int64 // number of orders in the ledger; Sold is the number that the run itself counted
}

// OrderLookup is the final answer of GET /orders about a sale whose outcome was unknown.
type OrderLookup struct {
	OrderID string
	Found   bool
	Error   string // reason why there was no answer; empty: there was one
}

// at formats a time as the offset from Began.
func (r Record) at(t time.Time) string { return fmt.Sprintf("%.2fs", t.Sub(r.Began).Seconds()) }
