package service

import (
	"context"
	"time"
)

// Observer receives the lock events of sales as they happen.
type Observer interface {
	// Follow returns the context for the commands of a sale of run, which attributes them to the sale. Observe later gets the same context.
	Follow(ctx context.Context, run, owner string) context.Context
	// Observe reports an event of the sale in ctx.
	Observe(ctx context.Context, event SaleEvent)
}

// SaleEvent is an event in the life of a sale, for an Observer.
type SaleEvent struct {
	Moment  Moment
	Lock    string        // name of the lock
	Segment int           // 1-based stock segment the lock guards; 0: the whole stock
	Nested  int           // nesting depth of the call; 0: the sale itself
	Token   int64         // Obtains only: the fencing token; 0: none
	Took    time.Duration // Obtains: the wait for the lock; Released: how long it was held
	Err     error         // Misses, Loses, Released and Ends: the error; nil: none
}

// Moment is the kind of a SaleEvent: the point that the sale has reached.
type Moment string

// Moments of a sale, in the order of their first possible occurrence. A nested call has its own Asks to Released.
const (
	Asks      Moment = "asks"      // the sale asks for the lock
	Obtains   Moment = "obtains"   // the sale has obtained the lock and enters the critical section
	Misses    Moment = "misses"    // the sale failed to obtain the lock
	Conflicts Moment = "conflicts" // a check-and-set failed and will be attempted again
	Loses     Moment = "loses"     // the sale learns that its lock is lost
	Leaves    Moment = "leaves"    // the sale leaves the critical section and begins to release the lock
	Released  Moment = "released"  // the release has ended, possibly with an error
	Ends      Moment = "ends"      // the sale is over: sold, or failed with an error
)

// Observers passes each event to several observers in order. It may be empty.
type Observers []Observer

// Follow implements Observer.
func (all Observers) Follow(ctx context.Context, run, owner string) context.Context {
	for _, observer := range all {
		ctx = observer.Follow(ctx, run, owner)
	}
	return ctx
}

// Observe implements Observer.
func (all Observers) Observe(ctx context.Context, event SaleEvent) {
	for _, observer := range all {
		observer.Observe(ctx, event)
	}
}
