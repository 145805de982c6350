// Package history defines orders and runs as plain values, and computes the verdict on a run as a pure function. Begin with Order, Run and
// Tally.
package history

import (
	"time"

	"lockstep/internal/verdict"
)

// Order is the record of one sale in the ledger.
type Order struct {
	ID           string    `json:"id"`
	RunID        string    `json:"run_id"`
	Lock         string    `json:"lock"`
	Replica      string    `json:"replica"`
	Owner        string    `json:"owner"`
	Before       int64     `json:"stock_before"`
	After        int64     `json:"stock_after"`
	Fence        int64     `json:"fence"`             // fencing token; 0: none
	Segment      int       `json:"segment,omitempty"` // 1-based segment that Before, After and Fence refer to; 0: the whole stock
	At           time.Time `json:"at"`                // when the order was written, by the replica's clock
	SegmentCount int       `json:"-"`                 // number of segments; not recorded
	Overlap      int64     `json:"-"`                 // most sales of the run seen in flight at once; 0: unknown; not recorded
}

// MaxStock is the largest permitted stock.
const MaxStock = 1_000_000_000

// Run is a period of sales with one lock, from one initial stock.
type Run struct {
	ID       string
	Lock     string   // name of the lock
	Initial  int64    // initial stock
	Settings Settings // settings of the replica that began the run
	Tuning   Tuning   // overrides of the settings, in every replica
	Segments int      // number of segments of the stock, in every replica; 0: not segmented
	Forgot   bool     // true: it began because Redis had lost the previous run, or its stock
}

// Tally holds the counts of a run at one moment. Sold comes from the ledger, never from the stock: GET and SET never go below zero, so the
// stock hides an oversell.
type Tally struct {
	Run
	Remaining   int64 // current stock
	Sold        int64 // number of orders in the ledger
	InFlight    int64 // sales begun and not ended in all replicas, by their last heartbeats
	MaxInFlight int64 // most sales seen in flight at once in one replica; at least 2 if a sale met another's lock or write
}

// Oversold returns the number of sales beyond the initial stock.
func (t Tally) Oversold() int64 { return max(0, t.Sold-t.Initial) }

// Lost returns the number of lost updates: sales that did not reduce the stock. A negative number means that the stock fell without a sale.
func (t Tally) Lost() int64 { return t.Remaining - (t.Initial - t.Sold) }

// Verdict returns the verdict on the run.
func (t Tally) Verdict() verdict.Verdict {
	switch {
	case t.Oversold() > 0 || t.Lost() > 0:
		return verdict.Oversold
	case t.Lost() < 0:
		return verdict.Undersold
	case t.MaxInFlight >= 2 && t.Sold > 0:
		return verdict.Pass
	default:
		return verdict.Untested
	}
}

// Report is a tally as JSON: the answer to GET /inventory, and the first part of the result of lockstep burst.
type Report struct {
	RunID       string          `json:"run_id"`
	Lock        string          `json:"lock"`
	Initial     int64           `json:"initial"`
	Remaining   int64           `json:"remaining"`
	Sold        int64           `json:"sold"`
	Oversold    int64           `json:"oversold"`
	Lost        int64           `json:"lost"`
	InFlight    int64           `json:"in_flight"`
	MaxInFlight int64           `json:"max_in_flight"`
	Verdict     verdict.Verdict `json:"verdict"`
	Forgot      bool            `json:"forgot,omitempty"` // copy of Run.Forgot
}

// Report returns the tally in the form of its JSON.
func (t Tally) Report() Report {
	return Report{
		RunID: t.ID, Lock: t.Lock, Initial: t.Initial, Remaining: t.Remaining, Sold: t.Sold,
		Oversold: t.Oversold(), Lost: t.Lost(), InFlight: t.InFlight, MaxInFlight: t.MaxInFlight, Verdict: t.Verdict(),
		Forgot: t.Forgot,
	}
}
