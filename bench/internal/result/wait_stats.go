package result

import "slices"

// NewWaitStats summarizes waits in microseconds; without any it returns zeros. pending is a wait that had not ended at the end of the
// window: it counts as the longest if it is already longer than the others.
func NewWaitStats(micros []int64, pending int64) WaitStats {
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
		Max:  millis(max(sorted[len(sorted)-1], pending)),
		Mean: float64(sum) / float64(len(sorted)) / 1000,
	}
	if wait.Mean > 0 {
		wait.MaxOverMean = wait.Max / wait.Mean
	}
	return wait
}

// Quantile returns the smallest of sorted values that at least a share q of them do not exceed.
func Quantile[T any](sorted []T, q float64) T {
	rank := int(q * float64(len(sorted)))
	if float64(rank) < q*float64(len(sorted)) {
		rank++
	}
	return sorted[max(rank, 1)-1]
}

func millis(micros int64) float64 { return float64(micros) / 1000 }
