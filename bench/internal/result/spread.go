package result

import (
	"math"
	"slices"
)

// Spread is what repetitions gave.
type Spread struct {
	Median, Min, Max float64
	N                int // how many; of none the rest is NaN
}

// Over spreads the values out.
func Over(values []float64) Spread {
	if len(values) == 0 {
		return Spread{Median: math.NaN(), Min: math.NaN(), Max: math.NaN()}
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := sorted[len(sorted)/2]
	if len(sorted)%2 == 0 {
		middle = (middle + sorted[len(sorted)/2-1]) / 2
	}
	return Spread{Median: middle, Min: sorted[0], Max: sorted[len(sorted)-1], N: len(sorted)}
}
