// Seat is the scheduler's seat in a browser's tab: what a page's worker runs.
package main

import (
	"lockstep/internal/explore/seat"
	"lockstep/internal/shop/answer"
	"lockstep/internal/web/tab"
)

func main() {
	tab.Serve(seat.New(seat.Usual(), seat.Errors{Status: answer.StatusOf, Write: answer.WriteError}))
}
