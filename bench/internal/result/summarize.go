package result

import (
	"math"
	"slices"
)

// Summary is what repetitions gave.
type Summary struct {
	Median, Min, Max float64
	N                int // how many; of none the rest is NaN
}

// Summarize spreads the values out.
func Summarize(values []float64) Summary {
	if len(values) == 0 {
		return Summary{Median: math.NaN(), Min: math.NaN(), Max: math.NaN()}
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := sorted[len(sorted)/2]
	if len(sorted)%2 == 0 {
		middle = (middle + sorted[len(sorted)/2-1]) / 2
	}
	return Summary{Median: middle, Min: sorted[0], Max: sorted[len(sorted)-1], N: len(sorted)}
}
