package result

import "slices"

// NewWaitStats sums up waits, in microseconds; none gives zeros. still is a wait that was on when the window ended, whose end is not
// known: it counts as the longest if it is that already.
func NewWaitStats(micros []int64, still int64) WaitStats {
	if len(micros) == 0 {
		return WaitStats{}
	}
	sorted := slices.Sorted(slices.Values(micros))
	sum := int64(0)
	for _, w := range sorted {
		sum += w
	}
	wait := WaitStats{
		P50:  millis(Quantile(sorted, 0.5)),
		P99:  millis(Quantile(sorted, 0.99)),
		Max:  millis(max(sorted[len(sorted)-1], still)),
		Mean: float64(sum) / float64(len(sorted)) / 1000,
	}
	if wait.Mean > 0 {
		wait.MaxOverMean = wait.Max / wait.Mean
	}
	return wait
}

// Quantile is the smallest of some sorted values that at least the share q of them do not exceed.
func Quantile[T any](sorted []T, q float64) T {
	rank := int(q * float64(len(sorted)))
	if float64(rank) < q*float64(len(sorted)) {
		rank++
	}
	return sorted[max(rank, 1)-1]
}

func millis(micros int64) float64 { return float64(micros) / 1000 }
