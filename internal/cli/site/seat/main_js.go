// Seat is the scheduler's seat in a browser's tab: what a page's worker runs.
package main

import (
	"time"

	"lockstep/internal/cli/site/tab"
	"lockstep/internal/explore/seat"
	"lockstep/internal/shop/route"
)

func main() {
	limits := seat.Usual()
	limits.Explore.Time = 10 * time.Minute // it is slower here, nobody else waits, and the reader can stop it
	tab.Serve(route.Mux(seat.New(limits, nil).Routes()...))
}
