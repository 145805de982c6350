package result

import (
	"fmt"
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
		{sorted: hundred, q: 0.5, want: 50},
		{sorted: hundred, q: 0.99, want: 99},
		{sorted: hundred, q: 1, want: 100},
		{sorted: hundred, q: 0, want: 1},
		{sorted: hundred, q: 0.001, want: 1},
		{sorted: []int64{7}, q: 0.5, want: 7},
		{sorted: []int64{7}, q: 0.99, want: 7},
		{sorted: []int64{1, 2}, q: 0.5, want: 1},
		{sorted: []int64{1, 2}, q: 0.51, want: 2},
		{sorted: []int64{1, 2, 3}, q: 0.5, want: 2},
	} {
		t.Run(fmt.Sprintf("%v of %d", test.q, len(test.sorted)), func(t *testing.T) {
			if got := Quantile(test.sorted, test.q); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestNewWaitStatsIncludesPendingWait(t *testing.T) {
	if got := NewWaitStats(nil, 5); got != (WaitStats{}) {
		t.Errorf("without waits: got %+v, want zeros", got)
	}
	want := WaitStats{P50: 2, P99: 6, Max: 6, Mean: 3, MaxOverMean: 2}
	if got := NewWaitStats([]int64{6000, 1000, 2000}, 5000); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	want.Max, want.MaxOverMean = 9, 3 // the pending wait is the longest, but is not among those that have ended
	if got := NewWaitStats([]int64{6000, 1000, 2000}, 9000); got != want {
		t.Errorf("with a longer pending wait: got %+v, want %+v", got, want)
	}
	if got := NewWaitStats([]int64{0, 0}, 0); got.MaxOverMean != 0 {
		t.Errorf("for waits of 0: got %+v, want a ratio of 0", got)
	}
}

func TestSummarizeReturnsMedianAndRange(t *testing.T) {
	if got := Summarize([]float64{3, 1, 2}); got != (Summary{Median: 2, Min: 1, Max: 3, N: 3}) {
		t.Errorf("of three: got %+v, want median 2 from 1 to 3", got)
	}
	if got := Summarize([]float64{4, 1}); got.Median != 2.5 {
		t.Errorf("of two: got %+v, want median 2.5", got)
	}
	if got := Summarize(nil); !math.IsNaN(got.Median) || got.N != 0 {
		t.Errorf("of none: got %+v, want NaN", got)
	}
}
