package session_test

import (
	"runtime"
	"testing"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
)

func BenchmarkDraw(b *testing.B) {
	for _, c := range []struct{ lock, in string }{{"v2", "--actors 3 --faults expiry=1"}, {"v3", "--actors 3 --faults expiry=1"}} {
		b.Run(c.lock, func(b *testing.B) {
			in, err := explore.ParseScenario(c.in)
			if err != nil {
				b.Fatal(err)
			}
			for range b.N {
				m, err := session.Draw(b.Context(), find(b, c.lock), in, explore.Bounds{}, nil)
				if err != nil {
					b.Fatal(err)
				}
				var mem runtime.MemStats
				runtime.ReadMemStats(&mem)
				b.ReportMetric(float64(m.States()), "states")
				b.ReportMetric(float64(m.Steps()), "steps")
				b.ReportMetric(float64(mem.Sys>>20), "MB")
			}
		})
	}
}
