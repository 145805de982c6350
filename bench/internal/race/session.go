package race

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/result"
)

// Session runs a plan on a testbed.
type Session struct {
	Testbed *Testbed
	Plan    Plan
	Random  *rand.Rand
	Log     func(string) // called with each line of progress
}

// Run returns all cells, and the measured round trips. It fails if Redis fails, and when ctx ends.
func (s Session) Run(ctx context.Context) ([]result.Cell, []result.Ping, error) {
	rates, err := s.measureLimits(ctx)
	if err != nil {
		return nil, nil, err
	}
	rate := func(added float64) float64 { return rates[added] }
	var repetitions [][]Trial
	takes := time.Duration(0)
	for i := range s.Plan.Repeat {
		trials := s.Plan.Trials(i+1, rate, s.Random)
		repetitions, takes = append(repetitions, trials), takes+EstimateDuration(trials)
	}
	s.Log(fmt.Sprintf("%d cells, about %v", len(repetitions)*len(repetitions[0]), takes.Round(time.Second)))
	var cells []result.Cell
	pings := map[float64][]time.Duration{}
	for _, trials := range repetitions {
		for _, trial := range trials {
			cell, found, err := s.Testbed.Run(ctx, trial)
			if err != nil {
				return nil, nil, err
			}
			cells = append(cells, cell)
			pings[trial.AddedMillis] = append(pings[trial.AddedMillis], found...)
			s.Log(formatCell(cell))
		}
	}
	result.SetShares(cells)
	return cells, s.summarizePings(pings), nil
}

// measureLimits returns the rate of the limit for each added round trip. The durations of all windows follow from it.
func (s Session) measureLimits(ctx context.Context) (map[float64]float64, error) {
	limit := slices.IndexFunc(s.Plan.Contestants, func(c contestants.Contestant) bool { return c.Kind == contestants.Limit })
	rates := map[float64]float64{}
	for _, added := range s.Plan.AddedMillis {
		cell, _, err := s.Testbed.Run(ctx, Trial{
			Contestant: s.Plan.Contestants[limit], Condition: result.Condition{AddedMillis: added, Processes: 1, Buyers: 1},
			Warmup: 200 * time.Millisecond, Window: 500 * time.Millisecond,
		})
		if err != nil {
			return nil, err
		}
		if cell.PerSecond == 0 {
			return nil, fmt.Errorf("nothing was sold without a lock and with %v ms added: %s %s", added, cell.Status, cell.Note)
		}
		rates[added] = cell.PerSecond
	}
	return rates, nil
}

// summarizePings returns the median round trip for each added round trip.
func (s Session) summarizePings(found map[float64][]time.Duration) []result.Ping {
	var pings []result.Ping
	for _, added := range s.Plan.AddedMillis {
		if trips := slices.Sorted(slices.Values(found[added])); len(trips) > 0 {
			median := result.Quantile(trips, 0.5)
			pings = append(pings, result.Ping{AddedMillis: added, MedianMillis: float64(median.Microseconds()) / 1000})
		}
	}
	return pings
}

// formatCell returns a cell as a line of progress.
func formatCell(c result.Cell) string {
	text := fmt.Sprintf(
		"%d: +%g ms, %d processes, %4d buyers, %-18s %8.1f sales/s, %6.2f requests per sale (%.2f of the lock), longest wait %.0f ms",
		c.Repetition, c.AddedMillis, c.Processes, c.Buyers, c.Contestant, c.PerSecond, c.Requests, c.LockRequests, c.Wait.Max)
	if c.Status != result.OK {
		text += " " + string(c.Status)
	}
	if c.Note != "" {
		text += ": " + c.Note
	}
	return text
}
