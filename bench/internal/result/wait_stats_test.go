package result

import (
	"math"
	"testing"
)

func TestQuantileReturnsSmallestCoveringValue(t *testing.T) {
	hundred := make([]int64, 100)
	for i := range hundred {
		hundred[i] = int64(i + 1)
	}
	for _, test := range []struct {
		sorted []int64
		q      float64
		want   int64
	}{
		{hundred, 0.5, 50}, {hundred, 0.99, 99}, {hundred, 1, 100}, {hundred, 0, 1}, {hundred, 0.001, 1},
		{[]int64{7}, 0.5, 7}, {[]int64{7}, 0.99, 7}, {[]int64{1, 2}, 0.5, 1}, {[]int64{1, 2}, 0.51, 2}, {[]int64{1, 2, 3}, 0.5, 2},
	} {
		if got := Quantile(test.sorted, test.q); got != test.want {
			t.Errorf("Quantile of %d, %v = %d; want %d", len(test.sorted), test.q, got, test.want)
		}
	}
}

func TestNewWaitStatsIncludesPendingWait(t *testing.T) {
	if got := NewWaitStats(nil, 5); got != (WaitStats{}) {
		t.Errorf("of none: %+v", got)
	}
	want := WaitStats{P50: 2, P99: 6, Max: 6, Mean: 3, MaxOverMean: 2}
	if got := NewWaitStats([]int64{6000, 1000, 2000}, 5000); got != want {
		t.Errorf("%+v; want %+v", got, want)
	}
	want.Max, want.MaxOverMean = 9, 3 // the one that is still on is longer already; it is not one of those that ended
	if got := NewWaitStats([]int64{6000, 1000, 2000}, 9000); got != want {
		t.Errorf("with one that is still on: %+v; want %+v", got, want)
	}
	if got := NewWaitStats([]int64{0, 0}, 0); got.MaxOverMean != 0 {
		t.Errorf("of no time: %+v", got)
	}
}

func TestSummarizeReturnsMedianAndRange(t *testing.T) {
	if got := Summarize([]float64{3, 1, 2}); got != (Summary{Median: 2, Min: 1, Max: 3, N: 3}) {
		t.Errorf("of three: %+v", got)
	}
	if got := Summarize([]float64{4, 1}); got.Median != 2.5 {
		t.Errorf("of two: %+v", got)
	}
	if got := Summarize(nil); !math.IsNaN(got.Median) || got.N != 0 {
		t.Errorf("of none: %+v", got)
	}
}
