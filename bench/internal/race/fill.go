package race

import (
	"fmt"
	"time"

	"lockstep/bench/internal/crew"
	"lockstep/bench/internal/result"
)

// quiet is how long nobody may have sold at the end of a stretch, and at least half of it, before the contestant counts as hung.
const quiet = time.Second

// fill puts the reports of all processes into the cell. fell is by how much the stock did.
func fill(cell *result.Cell, reports []crew.Report, publishes int64, fell int) {
	stretch := time.Duration(cell.Seconds * float64(time.Second))
	sold, requests, still, silence := 0, int64(0), int64(0), stretch
	var waits []int64
	for _, r := range reports {
		sold += r.Sold
		cell.Sales += r.Sales
		requests += r.Requests
		cell.Errors += r.Errors
		cell.Never += r.Never
		if cell.Note == "" {
			cell.Note = r.FirstError
		}
		waits = append(waits, r.Waits...)
		still = max(still, r.Waiting)
		silence = min(silence, time.Duration(r.Silence)*time.Microsecond)
	}
	cell.PerSecond = float64(cell.Sales) / cell.Seconds
	if cell.Sales > 0 {
		cell.Commands = float64(requests) / float64(cell.Sales)
		cell.Publishes = float64(publishes) / float64(cell.Sales)
	}
	cell.Wait = result.Waits(waits, still)
	switch {
	case fell != sold:
		cell.Status, cell.Note = result.Broken, fmt.Sprintf("%d were sold and the stock fell by %d", sold, fell)
	case silence >= max(quiet, stretch/2):
		cell.Status, cell.Note = result.Hung, fmt.Sprintf("nothing was sold in the last %v of %v; %s", silence.Round(time.Millisecond),
			stretch, cell.Note)
	default:
		cell.Status = result.OK
	}
}
