// Seat is the scheduler's seat in a browser's tab: what a page's worker runs.
package main

import (
	"time"

	"lockstep/internal/api/route"
	"lockstep/internal/explore/seat"
	"lockstep/internal/tab"
)

func main() {
	limits := seat.DefaultLimits()
	limits.Explore.Time = 10 * time.Minute // it is slower here, nobody else waits, and the reader can stop it
	tab.Serve(route.Mux(seat.New(limits, nil).Routes()...))
}
