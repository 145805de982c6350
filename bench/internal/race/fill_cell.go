package race

import (
	"fmt"
	"time"

	"lockstep/bench/internal/result"
	"lockstep/bench/internal/worker"
)

// hungSilence is the time without a sale at the end of a window after which a contestant counts as hung, if it is also half of the window.
const hungSilence = time.Second

// fillCell combines the reports of all processes in the cell. The stock fell by stockFall.
func fillCell(cell *result.Cell, reports []worker.Report, publishes int64, stockFall int) {
	window := time.Duration(cell.Seconds * float64(time.Second))
	sold, requests, lockRequests, longestPending, silence := 0, int64(0), int64(0), int64(0), window
	var waits []int64
	for _, r := range reports {
		sold += r.Sold
		cell.Sales += r.SalesInWindow
		requests += r.Requests
		lockRequests += r.LockRequests
		cell.Errors += r.Errors
		cell.NeverServed += r.NeverServed
		if cell.Note == "" {
			cell.Note = r.FirstError
		}
		waits = append(waits, r.Waits...)
		longestPending = max(longestPending, r.LongestPending)
		silence = min(silence, time.Duration(r.Silence)*time.Microsecond)
	}
	cell.PerSecond = float64(cell.Sales) / cell.Seconds
	if cell.Sales > 0 {
		cell.Requests = float64(requests) / float64(cell.Sales)
		cell.LockRequests = float64(lockRequests) / float64(cell.Sales)
		cell.Publishes = float64(publishes) / float64(cell.Sales)
	}
	cell.Wait = result.NewWaitStats(waits, longestPending)
	switch {
	case stockFall != sold:
		cell.Status, cell.Note = result.Broken, fmt.Sprintf("%d pieces were sold, but the stock fell by %d", sold, stockFall)
	case silence >= max(hungSilence, window/2):
		cell.Status, cell.Note = result.Hung, fmt.Sprintf("nothing was sold in the last %v of %v; %s", silence.Round(time.Millisecond),
			window, cell.Note)
	default:
		cell.Status = result.OK
	}
}
