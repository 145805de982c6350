package service

import (
	"context"
	"time"
)

// Observer is told what a sale does with its lock, as it happens.
type Observer interface {
	// Follow returns the context by which the commands of a sale of a run are known as the sale's. What Saw is told later comes with it.
	Follow(ctx context.Context, run, owner string) context.Context
	// Saw takes note that the sale of ctx has come to a moment.
	Observe(ctx context.Context, seen SaleEvent)
}

// Seen is what an observer is told.
type SaleEvent struct {
	Moment  Moment
	Lock    string        // its name
	Segment int           // of the stock, from 1 on, that the lock is of; 0: of the whole stock
	Nested  int           // how deep the call is nested; 0: the sale itself
	Token   int64         // with Obtains: the fencing token, if there is one
	Took    time.Duration // with Obtains: the wait; with Released: how long the lock was held
	Err     error         // with Misses, Loses, Released and Ends: what went wrong
}

// Moment is a point in a sale's life.
type Moment string

// The moments. A nested call has those from Asks to Released, too.
const (
	Asks      Moment = "asks"      // it asks for the lock
	Obtains   Moment = "obtains"   // from now on it believes that it holds the lock
	Misses    Moment = "misses"    // it did not get the lock
	Conflicts Moment = "conflicts" // its check-and-set failed: another attempt is due
	Loses     Moment = "loses"     // it is told that the lock is lost
	Leaves    Moment = "leaves"    // its work under the lock is done; next comes the release
	Released  Moment = "released"  // the release has ended, perhaps with an error
	Ends      Moment = "ends"      // the sale is over: sold, or failed with an error
)

// Observers are told the same, one after the other. Without any, nobody watches.
type Observers []Observer

// Follow lets all of them follow a sale.
func (all Observers) Follow(ctx context.Context, run, owner string) context.Context {
	for _, observer := range all {
		ctx = observer.Follow(ctx, run, owner)
	}
	return ctx
}

// Observe tells all of them.
func (all Observers) Observe(ctx context.Context, seen SaleEvent) {
	for _, observer := range all {
		observer.Observe(ctx, seen)
	}
}
