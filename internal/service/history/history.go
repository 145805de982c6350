// Package history holds orders and runs as plain values, and the verdict over them as a pure function.
package history

import (
	"time"

	"lockstep/internal/verdict"
)

// Order is one sale, as the ledger keeps it.
type Order struct {
	ID           string    `json:"id"`
	RunID        string    `json:"run_id"`
	Lock         string    `json:"lock"`
	Replica      string    `json:"replica"`
	Owner        string    `json:"owner"`
	Before       int64     `json:"stock_before"`
	After        int64     `json:"stock_after"`
	Fence        int64     `json:"fence"`
	Segment      int       `json:"segment,omitempty"` // that Before, After and Fence are of, from 1 on; 0: the stock is in none
	At           time.Time `json:"at"`
	SegmentCount int       `json:"-"` // so many segments
	Overlap      int64     `json:"-"` // at least so many sales of its run were in flight at once; 0: that is not known
}

// MaxStock is the largest stock there may be.
const MaxStock = 1_000_000_000

// Run is a stretch of sales with one lock, from one initial stock.
type Run struct {
	ID       string
	Lock     string
	Initial  int64
	Settings Settings // of the replica that began it
	Tuning   Tuning
	Segments int  // in which its stock is, for every replica; 0: it is in none
	Forgot   bool // it began because Redis had forgotten the run before it, or its stock
}

// Tally is what one look at a run counts. Sold comes from the ledger, never from the stock: GET and SET never go below
// zero, so the stock hides an oversell.
type Tally struct {
	Run
	Remaining   int64 // the stock
	Sold        int64 // orders in the ledger
	InFlight    int64 // sales begun and not ended, in all replicas, as these told last
	MaxInFlight int64 // at least so many were in flight at once, in one replica; or 2, if a sale met another's lock or write
}

// Oversold counts the sales beyond the initial stock.
func (t Tally) Oversold() int64 { return max(0, t.Sold-t.Initial) }

// Lost counts the sales the stock never felt: lost updates. Below zero, the stock fell without a sale.
func (t Tally) Lost() int64 { return t.Remaining - (t.Initial - t.Sold) }

// Verdict judges the run.
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

// Report is a tally as it is told: GET /inventory gives it, and lockstep burst begins with it.
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
	Forgot      bool            `json:"forgot,omitempty"` // see Run
}

// Report tells the tally.
func (t Tally) Report() Report {
	return Report{
		RunID: t.ID, Lock: t.Lock, Initial: t.Initial, Remaining: t.Remaining, Sold: t.Sold,
		Oversold: t.Oversold(), Lost: t.Lost(), InFlight: t.InFlight, MaxInFlight: t.MaxInFlight, Verdict: t.Verdict(),
		Forgot: t.Forgot,
	}
}
