// Package service is the sale and the runs that sales belong to. It knows locks and a small store; it knows neither HTTP nor Redis.
package service

import (
	"context"
	"errors"
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
	// ErrInFlight means that an order is not in the ledger yet: its sale is going on.
	ErrInFlight = lock.WithCode("order_in_flight", "its sale is going on")
	// ErrDoorClosed means that the run is being changed; sales wait until it is open again.
	ErrDoorClosed = errors.New("the run is being changed")
	// ErrRunChanged means that the stock was set by hand, or that there is no run.
	ErrRunChanged = errors.New("the stock is not what the run left")
)

// Stock is what one sale needs of the store. Any of its methods may fail with lock.ErrUnavailable, lock.ErrOutcomeUnknown,
// lock.ErrCancelled or, if nothing was written, ErrBadData.
type Stock interface {
	// Read returns the stock for the sale of this order. It fails with ErrRunOver when the stock is gone, ErrBadStock when the key holds
	// something else, and, where the order has a fencing token, with lock.ErrLost when a larger one was seen already in its run.
	Read(ctx context.Context, order history.Order) (int64, error)
	// Write sets the stock to order.After and writes the order down, both or neither. It fails with ErrRunOver when the order's run is
	// no longer on, and with lock.ErrLost when a larger token than order.Fence was seen already, if that is not 0.
	Write(ctx context.Context, order history.Order) error
	// Watch calls sell with a Stock whose Write fails with ErrConflict if another sale wrote since Watch was called. It is named after
	// Redis's command.
	Watch(ctx context.Context, sell func(Stock) error) error
	// Take does what Read and Write do, in one step: it returns the order with its Before and After, or fails with ErrSoldOut or as they do.
	Take(ctx context.Context, order history.Order) (history.Order, error)
}

// Ledger is what the runs need of the store. Its methods fail as those of Stock do.
type Ledger interface {
	// Enter lets a sale into the current run. It fails with ErrDoorClosed or ErrRunChanged.
	Enter(ctx context.Context, sale string) (history.Run, error)
	// Leave ends what Enter began.
	Leave(ctx context.Context, sale string) error
	// Run returns the current run, without a look at the stock; the zero Run if there is none.
	Run(ctx context.Context) (history.Run, error)
	// Tally counts the run. It fails with ErrRunChanged as Enter does, once no sale is in flight.
	Tally(ctx context.Context) (history.Tally, error)
	// HandSet returns the stock, and whether it was set by hand: there is one, and it is not what the run wrote last.
	HandSet(ctx context.Context) (stock int64, set bool, err error)
	// Start ends the run last, the zero Run for none, and starts next. It fails with ErrRunOver if last is not the one that is on.
	Start(ctx context.Context, last, next history.Run) error
	// Order returns an order that the ledger keeps. It fails with ErrNoOrder or ErrInFlight.
	Order(ctx context.Context, id string) (history.Order, error)
	// Beat renews this replica's heartbeat: it counts as dead five seconds after the last one. It forgets the sales in flight of dead
	// replicas, and those of this replica that are not live, and returns the current run, and how many sales are left.
	Beat(ctx context.Context, live func(sale string) bool) (run history.Run, inFlight int64, err error)
	// Others returns the other replicas that do not count as dead, with the time of their last beat.
	Others(ctx context.Context) (map[string]time.Time, error)
	// Probe fails if no sale could write now.
	Probe(ctx context.Context) error
	// Quit takes this replica out of those that live.
	Quit(ctx context.Context) error
}

// LockKey shows and removes the lock's key, whatever strategy made it.
type LockKey interface {
	Look(ctx context.Context, onNodes bool) (KeyState, error)
	// Remove reports whether there was one.
	Remove(ctx context.Context, onNodes bool) (bool, error)
	// Probe fails if the lock could not be taken on most nodes now.
	Probe(ctx context.Context) error
}

// KeyState is what Redis says of the lock's key.
type KeyState struct {
	Name   string `json:"name"`
	Type   string `json:"type"`   // as TYPE says: string, hash, none, …
	Holder string `json:"holder"` // the value of a string, the owner in a hash; empty where there is none
	TTL    int64  `json:"ttl_ms"` // as PTTL says: milliseconds; -1 never expires; -2 there is no key
}
