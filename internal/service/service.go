// Package service makes sales under a lock and manages the runs that the sales belong to. Shop is the service of one replica, and Sale
// makes the sales of one run; both use a store through the interfaces Stock and Ledger. The package knows neither HTTP nor Redis. Begin
// with Shop.
package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/service/history"
)

// Errors of a sale and of a run besides those of the lock. Match them with errors.Is.
var (
	// ErrSoldOut is returned when no piece is left.
	ErrSoldOut = lock.WithCode("sold_out", "sold out")
	// ErrBadStock is returned when the stock's key does not hold a number in the permitted range.
	ErrBadStock = lock.WithCode("bad_stock", "invalid stock")
	// ErrBadData is returned when a key of the shop holds data that the shop never writes.
	ErrBadData = lock.WithCode("bad_data", "invalid data in redis")
	// ErrNotHolder is returned when a lock is to be removed by hand, and somebody else has it.
	ErrNotHolder = lock.WithCode("not_holder", "another holder has the lock; GET /lock shows which")
	// ErrConflict is returned when another sale changed the stock between the read and the write of a check-and-set.
	ErrConflict = errors.New("another sale changed the stock in between")
	// ErrRunOver is returned when the run of a sale ended before the sale wrote; nothing was written.
	ErrRunOver = lock.WithCode("run_over", "the run is over")
	// ErrOutcomeUnknown is returned when the write of a sale got no reply: the sale may have been made.
	ErrOutcomeUnknown = lock.WithCode("outcome_unknown", "the outcome of the sale's write is unknown: the sale may have been made")
	// ErrNoOrder is returned when the ledger does not contain an order.
	ErrNoOrder = lock.WithCode("no_order", "no such order is in the ledger")
	// ErrInFlight is returned when the ledger does not contain an order, but its sale is in flight, or may be, because a replica does not
	// answer.
	ErrInFlight = lock.WithCode("order_in_flight", "its sale may still be in progress")
	// ErrRunChanging is returned while the run is being changed; sales wait for the next run.
	ErrRunChanging = errors.New("the run is being changed")
	// ErrRunChanged is returned when the stock is not what the run wrote last, because it was set by hand, or when there is no run.
	ErrRunChanged = fmt.Errorf("%w: the stock is not what the run left", ErrRunOver)
	// ErrForgotten is returned when there is no stock, for example after Redis lost its data.
	ErrForgotten = fmt.Errorf("%w: it is gone", ErrRunChanged)
)

// Stock is the part of the store that a sale uses. All methods may fail with lock.ErrUnavailable, lock.ErrOutcomeUnknown, lock.ErrCancelled
// or, if nothing was written, ErrBadData.
type Stock interface {
	// Read returns the stock, or the stock of the order's segment. It fails with ErrRunOver if the stock is gone, with ErrBadStock if the key
	// holds no valid stock, and, for an order with a fencing token, with lock.ErrLost if a larger token was seen in its run.
	Read(ctx context.Context, order history.Order) (int64, error)
	// Write atomically sets the stock, or the stock of the order's segment, to order.After and records the order. If the ledger already
	// contains an order with this id, Write changes nothing and returns that order. It fails with ErrRunOver if the order's run is over, with
	// ErrRunChanged if somebody else has set the stock, and with lock.ErrLost if order.Fence is not 0 and a larger token was seen.
	Write(ctx context.Context, order history.Order) (history.Order, error)
	// Watch calls sell with a Stock whose Write fails with ErrConflict if another sale has written since the call of Watch. It is named after
	// the command of Redis.
	Watch(ctx context.Context, sell func(Stock) error) error
	// Take does the work of Read and Write in one atomic step, and returns the order with Before and After set. It fails with ErrSoldOut, or
	// as Read and Write do.
	Take(ctx context.Context, order history.Order) (history.Order, error)
	// TakeUnchecked is Take, but sells again for an order that the ledger already contains, which is the antipattern.
	TakeUnchecked(ctx context.Context, order history.Order) (history.Order, error)
}

// ReplicaLifetime is how long a replica counts as alive after its last heartbeat. With one heartbeat per second, four in a row may be
// missed.
const ReplicaLifetime = 5 * time.Second

// Replica is the state of a replica, as sent with its heartbeat.
type Replica struct {
	Name     string    `json:"replica"`  // name for messages
	Run      string    `json:"run"`      // id of its current run
	Sales    []string  `json:"sales"`    // ids of its unanswered orders
	Admitted int       `json:"admitted"` // number of its sales in flight in the run
	Overlap  int64     `json:"overlap"`  // most sales of the run seen in flight at once
	Drained  string    `json:"drained"`  // owner of the change for which it has drained; empty: sales are admitted
	LastBeat time.Time `json:"-"`        // time of the heartbeat, by the ledger's clock
}

// State is the state of the current run and its replicas in the ledger.
type State struct {
	Run    history.Run        // current run, without a check of the stock; zero: none
	Change string             // owner of Shop.Barrier, which identifies the change in progress; empty: none
	Others map[string]Replica // other live replicas by instance
	Future []Replica          // replicas with a heartbeat in the future, because the clock of Redis went back; not counted as alive
}

// Ledger is the part of the store that runs use. Its methods fail as those of Stock do.
type Ledger interface {
	// Tally counts the run, without the sales in flight in this replica. It fails with ErrForgotten, or with ErrRunChanged, and then
	// Remaining is the stock that was found.
	Tally(ctx context.Context) (history.Tally, error)
	// Start ends the run last (zero: none) and starts next. It fails with ErrRunOver if last is not the current run.
	Start(ctx context.Context, last, next history.Run) error
	// Order returns an order from the ledger. It fails with ErrNoOrder.
	Order(ctx context.Context, id string) (history.Order, error)
	// Beat sends the heartbeat of this replica, which then counts as alive for ReplicaLifetime.
	Beat(ctx context.Context, replica Replica) (State, error)
	// ReadState returns the same state as Beat without sending a heartbeat.
	ReadState(ctx context.Context) (State, error)
	// RequestHeartbeats asks the other replicas for an immediate heartbeat. They may miss the message.
	RequestHeartbeats(ctx context.Context) error
	// OnHeartbeatRequest calls onRequest after each request of another replica for a heartbeat, until stop is called.
	OnHeartbeatRequest(onRequest func()) (stop func())
	// Probe fails if the store does not accept writes.
	Probe(ctx context.Context) error
	// DeleteHeartbeat deletes this replica's heartbeat.
	DeleteHeartbeat(ctx context.Context) error
}

// LockLayout says where the keys of a lock are. Its zero value is one key in the Redis of the stock.
type LockLayout struct {
	OnNodes  bool // the lock is on the Redlock nodes
	Segments int  // number of segment locks; 0: one lock of the whole stock
}

// LockKey reads and removes the key of a lock of any strategy.
type LockKey interface {
	// ReadState returns the state of the lock's key. For a segmented lock it is the state of the first held segment, with the states of all
	// segments.
	ReadState(ctx context.Context, layout LockLayout) (KeyState, error)
	// Remove deletes the lock's key or keys if holder has them; with an empty holder, whoever has them. It reports whether it has deleted any,
	// and fails with ErrNotHolder if only others have the lock.
	Remove(ctx context.Context, layout LockLayout, holder string) (bool, error)
}

// KeyState is the state of a lock's key in Redis.
type KeyState struct {
	Name   string `json:"name"`   // name of the key
	Type   string `json:"type"`   // reply of TYPE: string, hash, none, …
	Holder string `json:"holder"` // owner: the value of a string or the field of a hash; empty: the lock is free
	TTL    int64  `json:"ttl_ms"` // reply of PTTL: milliseconds; -1: never expires; -2: no key

	Segments []KeyState `json:"segments,omitempty"` // states of all segments of a segmented lock
}
