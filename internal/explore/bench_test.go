package explore_test

import (
	"runtime"
	"testing"

	"lockstep/internal/explore"
)

// How long it takes to see everything, anomalies or not:
//
//	go test ./internal/explore -run '^$' -bench . -benchtime 1x
func BenchmarkThreeActorsExpiryAndCrash(b *testing.B) {
	scenario := faults("expiry=1,crash=1")
	scenario.Actors = 3
	benchmark(b, scenario, "v0", "v1", "v2", "v3", "v4", "v5", "v6")
}

func BenchmarkFourActors(b *testing.B) {
	benchmark(b, explore.Scenario{Actors: 4}, "v0", "v1", "v2", "v3", "v4", "v5", "v6")
}

func benchmark(b *testing.B, scenario explore.Scenario, locks ...string) {
	b.Helper()
	for _, name := range locks {
		b.Run(name, func(b *testing.B) {
			strategy := find(b, name)
			var schedules int
			var result explore.Result
			for b.Loop() {
				var err error
				if result, err = explore.Explore(b.Context(), strategy, scenario, explore.Goal{All: true}, explore.Bounds{}); err != nil {
					b.Fatal(err)
				}
				if !result.Complete {
					b.Fatalf("not everything was explored: %s", result.Bound())
				}
				schedules += result.Schedules
			}
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			b.ReportMetric(float64(schedules)/b.Elapsed().Seconds(), "schedules/s")
			b.ReportMetric(float64(result.Schedules), "schedules")
			b.ReportMetric(float64(result.States), "states")
			b.ReportMetric(float64(memory.Sys>>20), "MB") // of the whole process, at most, so far
			b.ReportMetric(0, "ns/op")
		})
	}
}
