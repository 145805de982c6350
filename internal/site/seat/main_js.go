// Seat is the program of a worker that runs the scheduler's seat in a browser's tab.
package main

import (
	"time"

	"lockstep/internal/api/route"
	"lockstep/internal/explore/seat"
	"lockstep/internal/tab"
)

func main() {
	limits := seat.DefaultLimits()
	limits.Explore.Time = 10 * time.Minute // A tab is slower than a server, no one else waits, and the reader can stop it.
	tab.Serve(route.Mux(seat.New(limits, nil).Routes()...))
}
