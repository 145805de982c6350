package race

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"lockstep/bench/internal/contest"
	"lockstep/bench/internal/result"
)

// Session runs a plan on a track.
type Session struct {
	Track  *Track
	Plan   Plan
	Random *rand.Rand
	Say    func(string) // told what goes on, a line at a time
}

// Run gives all cells, and the round trips found. It fails when there is no Redis, and when ctx ends.
func (s Session) Run(ctx context.Context) ([]result.Cell, []result.Ping, error) {
	rates, err := s.rates(ctx)
	if err != nil {
		return nil, nil, err
	}
	rate := func(added float64) float64 { return rates[added] }
	var repetitions [][]Heat
	takes := time.Duration(0)
	for i := range s.Plan.Repeat {
		heats := s.Plan.Heats(i+1, rate, s.Random)
		repetitions, takes = append(repetitions, heats), takes+Takes(heats)
	}
	s.Say(fmt.Sprintf("%d cells, about %v", len(repetitions)*len(repetitions[0]), takes.Round(time.Second)))
	var cells []result.Cell
	pings := map[float64][]time.Duration{}
	for _, heats := range repetitions {
		for _, heat := range heats {
			cell, found, err := s.Track.Run(ctx, heat)
			if err != nil {
				return nil, nil, err
			}
			cells = append(cells, cell)
			pings[heat.AddedMillis] = append(pings[heat.AddedMillis], found...)
			s.Say(line(cell))
		}
	}
	result.SetShares(cells)
	return cells, s.pings(pings), nil
}

// rates runs the limit once for each round trip, as the lengths of all stretches follow from its rate.
func (s Session) rates(ctx context.Context) (map[float64]float64, error) {
	limit := slices.IndexFunc(s.Plan.Contestants, func(c contest.Contestant) bool { return c.Kind == contest.Limit })
	rates := map[float64]float64{}
	for _, added := range s.Plan.AddedMillis {
		cell, _, err := s.Track.Run(ctx, Heat{
			Contestant: s.Plan.Contestants[limit], Condition: result.Condition{AddedMillis: added, Processes: 1, Waiters: 1},
			Warmup: 200 * time.Millisecond, Stretch: 500 * time.Millisecond,
		})
		if err != nil {
			return nil, err
		}
		if cell.PerSecond == 0 {
			return nil, fmt.Errorf("without a lock, and with %v ms added, nothing was sold: %s %s", added, cell.Status, cell.Note)
		}
		rates[added] = cell.PerSecond
	}
	return rates, nil
}

func (s Session) pings(found map[float64][]time.Duration) []result.Ping {
	var pings []result.Ping
	for _, added := range s.Plan.AddedMillis {
		if trips := slices.Sorted(slices.Values(found[added])); len(trips) > 0 {
			median := result.Quantile(trips, 0.5)
			pings = append(pings, result.Ping{AddedMillis: added, MedianMillis: float64(median.Microseconds()) / 1000})
		}
	}
	return pings
}

func line(c result.Cell) string {
	text := fmt.Sprintf("%d: +%g ms, %d processes, %4d waiters, %-18s %8.1f sales/s, %6.2f commands a sale, longest wait %.0f ms",
		c.Repetition, c.AddedMillis, c.Processes, c.Waiters, c.Contestant, c.PerSecond, c.Commands, c.Wait.Max)
	if c.Status != result.OK {
		text += " " + string(c.Status)
	}
	if c.Note != "" {
		text += ": " + c.Note
	}
	return text
}
