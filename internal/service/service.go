// Package service is the sale and the runs that sales belong to. It knows locks and a small store; it knows neither HTTP nor Redis.
package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/service/history"
)

// What can go wrong with a sale apart from its lock, to be matched with errors.Is.
var (
	ErrSoldOut = lock.WithCode("sold_out", "sold out")
	// ErrBadStock means that the stock's key holds no number, or one that is too large.
	ErrBadStock = lock.WithCode("bad_stock", "invalid stock")
	// ErrBadData means that a key of the shop holds something that no sale and no run writes.
	ErrBadData = lock.WithCode("bad_data", "invalid data in redis")
	// ErrConflict means that another sale changed the stock between the read and the write of a check-and-set.
	ErrConflict = errors.New("another sale changed the stock in between")
	// ErrRunOver means that a sale's run ended before it wrote, so that it wrote nothing.
	ErrRunOver = lock.WithCode("run_over", "the run is over")
	// ErrOutcomeUnknown means that Redis did not say whether it did a sale's write: the sale may have been made.
	ErrOutcomeUnknown = lock.WithCode("outcome_unknown", "the outcome of the sale's write is unknown: the sale may have been made")
	// ErrNoOrder means that an order is not among those that the ledger keeps.
	ErrNoOrder = lock.WithCode("no_order", "no such order is in the ledger")
	// ErrInFlight means that an order is not in the ledger, but its sale is going on, or a replica does not say that it is not.
	ErrInFlight = lock.WithCode("order_in_flight", "its sale may be going on")
	// ErrRunChanging means that the run is being changed; sales wait for the next one.
	ErrRunChanging = errors.New("the run is being changed")
	// ErrRunChanged means that the stock was set by hand: it is not what the run wrote last, or there is no run.
	ErrRunChanged = fmt.Errorf("%w: the stock is not what the run left", ErrRunOver)
	// ErrForgotten means that there is no stock.
	ErrForgotten = fmt.Errorf("%w: it is gone", ErrRunChanged)
)

// Stock is what one sale needs of the store. Any of its methods may fail with lock.ErrUnavailable, lock.ErrOutcomeUnknown,
// lock.ErrCancelled or, if nothing was written, ErrBadData.
type Stock interface {
	// Read returns the stock for the sale of this order, or what is left in the order's segment.
	// It fails with ErrRunOver when the stock is gone, ErrBadStock when the key holds
	// something else, and, where the order has a fencing token, with lock.ErrLost when a larger one was seen already in its run.
	Read(ctx context.Context, order history.Order) (int64, error)
	// Write sets the stock, or the order's segment of it, to order.After, and writes the order down, both or neither. If an order of this
	// id is written down already, it only returns that one. It fails with ErrRunOver when the order's run is no longer on, ErrRunChanged when
	// somebody else has set the stock, and with lock.ErrLost when a larger token than order.Fence was seen already, if that is not 0.
	Write(ctx context.Context, order history.Order) (history.Order, error)
	// Watch calls sell with a Stock whose Write fails with ErrConflict if another sale wrote since Watch was called. It is named after
	// Redis's command.
	Watch(ctx context.Context, sell func(Stock) error) error
	// Take does what Read and Write do, in one step: it returns the order with its Before and After, or fails with ErrSoldOut or as they do.
	// Unchecked, it also takes for an order that is written down already: the antipattern.
	Take(ctx context.Context, order history.Order, unchecked bool) (history.Order, error)
}

// Lifetime is how long a replica counts as living after it has told what it is doing.
const Lifetime = 5 * time.Second

// Replica is what a replica tells the others.
type Replica struct {
	Name     string    `json:"replica"`  // for people
	Run      string    `json:"run"`      // the id of the one that it is in
	Sales    []string  `json:"sales"`    // the ids of the orders that it is asked for
	Admitted int       `json:"admitted"` // how many of them are in flight in the run
	Overlap  int64     `json:"overlap"`  // at least so many of the run were in flight at once
	Drained  string    `json:"drained"`  // the change for which it admits no sale, once none is in flight
	LastBeat time.Time `json:"-"`        // when, by the ledger's clock
}

// State is what the ledger says of a run and its replicas.
type State struct {
	Run    history.Run // the current one, without a look at the stock; the zero Run if there is none
	Change string      // the change of the run that is going on, by the owner of Shop.Barrier; "" if none is
	Others map[string]Replica
	Future []Replica // those whose heartbeat lies in the future of Redis's clock, which went back: they do not count as living
}

// Ledger is what the runs need of the store. Its methods fail as those of Stock do.
type Ledger interface {
	// Tally counts the run, but for the sales in flight in this replica. It fails with ErrForgotten, and with ErrRunChanged and the stock as
	// it is.
	Tally(ctx context.Context) (history.Tally, error)
	// Start ends the run last, the zero Run for none, and starts next. It fails with ErrRunOver if last is not the one that is on.
	Start(ctx context.Context, last, next history.Run) error
	// Order returns an order that the ledger keeps. It fails with ErrNoOrder.
	Order(ctx context.Context, id string) (history.Order, error)
	// Beat tells what this replica is doing. It counts as living for so long as Lifetime says.
	Beat(ctx context.Context, tells Replica) (State, error)
	// Look returns what Beat does, and tells nothing.
	Look(ctx context.Context) (State, error)
	// Call asks the other replicas to beat at once. They may not hear it.
	Call(ctx context.Context) error
	// OnCall calls back whenever a replica has called, until stop is called.
	OnCall(back func()) (stop func())
	// Probe fails if no sale could write now.
	Probe(ctx context.Context) error
	// Quit takes this replica out of those that live.
	Quit(ctx context.Context) error
}

// LockKey shows and removes the lock's key, whatever strategy made it.
type LockKey interface {
	// Of a lock in so many segments it returns the state of the first that is held, with the states of all.
	Look(ctx context.Context, onNodes bool, segments int) (KeyState, error)
	// Remove reports whether there was one.
	Remove(ctx context.Context, onNodes bool, segments int) (bool, error)
}

// KeyState is what Redis says of the lock's key.
type KeyState struct {
	Name   string `json:"name"`
	Type   string `json:"type"`   // as TYPE says: string, hash, none, …
	Holder string `json:"holder"` // the value of a string, the owner in a hash; empty where there is none
	TTL    int64  `json:"ttl_ms"` // as PTTL says: milliseconds; -1 never expires; -2 there is no key

	Segments []KeyState `json:"segments,omitempty"` // of a lock that has several
}
