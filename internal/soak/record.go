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
	Doubts        []Doubt
	ReplicaOutput string // last output of the replicas
}

// Sale is one request to buy, and its answer.
type Sale struct {
	Start, End    time.Time
	Buyer         int
	HasKey        bool   // with an Idempotency-Key, and a buyer who repeats what it doubts: this is all of its requests, and the last answer
	Repeats       int    // requests after the first
	OtherOrderID  string // another order than that of its key, of which an answer told; "": none did
	Status        int    // HTTP status; 0: no answer
	Code          string // code of an error, or the reason why there was no answer
	OrderID       string // "" if the answer did not say
	RunID         string // run of the sale; this and the next fields are of an answer with status 200
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

// mayHaveLost reports whether this fault may have destroyed the order of a sale before any reading of the ledgers.
func (f Injected) mayHaveLost(s Sale) bool {
	return f.Kind.effect().destroysLedgers && s.End.After(f.Read) && s.Start.Before(f.End)
}

// mayHaveRemoved reports whether this fault may have removed an order: a Redis that is out of memory loses the orders of earlier runs.
func (f Injected) mayHaveRemoved(order Entry) bool {
	return (f.Kind.effect().destroysLedgers || f.Kind.effect().dropsOldLedgers) && order.At.Before(f.End)
}

// Snapshot is the current run, all of it at one moment between two.
type Snapshot struct {
	Requested, Received time.Time
	history.Tally
	Orders int64 // orders in the ledger; Sold is what the run says there are
}

// Doubt is the final answer of GET /orders about a sale whose outcome was unknown.
type Doubt struct {
	OrderID string
	Found   bool
	Error   string // reason why there was no answer; empty: there was one
}

// at formats a time as the offset from Began.
func (r Record) at(t time.Time) string { return fmt.Sprintf("%.2fs", t.Sub(r.Began).Seconds()) }
