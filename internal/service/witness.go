package service

import "context"

// Witness is told what a sale does with its lock, as it happens.
type Witness interface {
	// Follow gives the context by which the commands of a sale of a run are known as the sale's. What Saw is told later comes with it.
	Follow(ctx context.Context, run, owner string) context.Context
	// Saw is told that the sale of ctx has come to this moment; with its fencing token, if it has one, and with the error, if one ended it.
	Saw(ctx context.Context, moment Moment, token int64, err error)
}

// Moment is a point in a sale's life.
type Moment string

// The moments. A nested call has those from Asks to Released, too.
const (
	Asks     Moment = "asks"     // it asks for the lock
	Obtains  Moment = "obtains"  // from now on it believes that it holds the lock
	Loses    Moment = "loses"    // it is told that the lock is lost
	Leaves   Moment = "leaves"   // its work under the lock is done; next comes the release
	Released Moment = "released" // the release has ended, perhaps with an error
	Ends     Moment = "ends"     // the sale is over: sold, or failed with an error
)

// unwatched is the witness of sales that nobody watches.
type unwatched struct{}

func (unwatched) Follow(ctx context.Context, _, _ string) context.Context { return ctx }
func (unwatched) Saw(context.Context, Moment, int64, error)               {}

// witness gives the one that there is.
func (s Sale) witness() Witness {
	if s.Witness == nil {
		return unwatched{}
	}
	return s.Witness
}
