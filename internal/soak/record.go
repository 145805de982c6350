package soak

import (
	"fmt"
	"net/http"
	"time"

	"lockstep/internal/load"
	"lockstep/internal/service/history"
)

// Record is what happened in a session.
type Record struct {
	Lock   string
	Began  time.Time // when the buyers were warm
	Ended  time.Time // when they were told to leave
	Sales  []Sale
	Faults []Injected
	Orders []Entry
	Looks  []Look
	Doubts []Doubt
	Said   string // by the replicas, at last
}

// Sale is one request to buy, and its answer.
type Sale struct {
	Start, End    time.Time
	Buyer         int
	Keyed         bool   // with an Idempotency-Key, and a buyer who repeats what it doubts: this is all of its requests, and the last answer
	Repeats       int    // requests after the first
	Strayed       string // another order than that of its key, of which an answer told; "": none did
	Status        int    // 0: there was no answer
	Code          string // of an error; why there was no answer, in words
	OrderID       string // "" if the answer did not say
	RunID         string // of an answer 200, as are the next ones
	Before, After int64  // what it found in stock, and what it left
	Fence         int64  // its fencing token; 0: none
	Replica       string // that answered; "" if it was the front
}

func (s Sale) sold() bool  { return s.Status == http.StatusOK }
func (s Sale) isBug() bool { return s.Status == http.StatusInternalServerError }

func (s Sale) outcome() outcome {
	switch {
	case s.sold():
		return made
	case s.Code == "no_replica":
		return neverSent
	case s.Status == 0 || load.MayHaveSold(s.Status, s.Code):
		return unknown
	default: // sold_out, lock_timeout, lock_lost, run_over, redis_unavailable, …
		return notMade
	}
}

type outcome int

const (
	made outcome = iota
	notMade
	neverSent // to any replica, so there is not even an id
	unknown
)

// Entry is an order as a ledger holds it.
type Entry struct {
	Run string // of the ledger
	history.Order
}

// Injected is a fault as it took place.
type Injected struct {
	Fault
	Victim     string    // for faults of one replica: its name
	Read       time.Time // just before it: if it destroys ledgers, when the last reading of them began
	Begin, End time.Time
	Caught     int    // commands that were held or lost, clients that were cut or went away, keys that were deleted
	Error      string // why it did not take place; "" if it did
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

// isLoserOf reports whether this fault may have destroyed the order of a sale before any reading of the ledgers.
func (f Injected) isLoserOf(s Sale) bool {
	return f.Kind.effect().destroys && s.End.After(f.Read) && s.Start.Before(f.End)
}

// tookIt reports whether this fault may have removed an order: a Redis that is out of memory loses the orders of earlier runs.
func (f Injected) tookIt(order Entry) bool {
	return (f.Kind.effect().destroys || f.Kind.effect().drops) && order.At.Before(f.End)
}

// Look is the current run, all of it at one moment between two.
type Look struct {
	Asked, At time.Time
	history.Tally
	Kept int64 // orders in the ledger; Sold is what the run says there are
}

// Doubt is what GET /orders answered in the end about a sale whose outcome was unknown.
type Doubt struct {
	OrderID string
	Found   bool
	Error   string // why there was no such answer; "" if there was
}

// at tells a moment as the time since the session began.
func (r Record) at(t time.Time) string { return fmt.Sprintf("%.2fs", t.Sub(r.Began).Seconds()) }
