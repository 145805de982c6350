package result

import (
	"math"
	"slices"
)

// Summary summarizes the repetitions of a number.
type Summary struct {
	Median, Min, Max float64
	N                int // number of repetitions; 0: the other fields are NaN
}

// Summarize returns the median and the range of values.
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
