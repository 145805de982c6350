package locktest_test

import (
	"testing"

	"lockstep/locktest"
)

// How many runs a second: two actors on a SET NX lock.
func BenchmarkRuns(b *testing.B) {
	for name, faults := range map[string]string{"plain": "slow=1", "lost": "lost-reply=1,lost-request=1,cancel=1,slow=1"} {
		b.Run(name, func(b *testing.B) {
			runs := 0
			for b.Loop() {
				inTest(func(t *testing.T) {
					result, err := locktest.Search(t, config(faults), made(polled(takenBy(compareAndDelete, true)), nil))
					if err != nil {
						t.Error(err)
					}
					runs += result.Runs
				})
			}
			b.ReportMetric(float64(runs)/b.Elapsed().Seconds(), "runs/s")
		})
	}
}
