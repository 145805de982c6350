package locktest_test

import (
	"testing"

	"lockstep/internal/dao/redisclient"
	"lockstep/locktest"
)

// How many runs a second: two actors on a SET NX lock. The client is that of all steps of lockstep: its small buffers, and no handshake
// that nobody needs, are half of it.
func BenchmarkRuns(b *testing.B) {
	open := func(p locktest.Process) (locktest.Lock, error) {
		c := redisclient.Single(redisclient.Config{Addrs: []string{p.Addr(0)}, Dialer: p.Dial, Buffer: 4096})
		p.Cleanup(func() { _ = c.Close() })
		return &toy{c, polled(takenBy(compareAndDelete, true)), nil}, nil
	}
	runs := 0
	for b.Loop() {
		inTest(func(t *testing.T) {
			result, err := locktest.Search(t, config("lost-reply=1,lost-request=1,cancel=1,slow=1"), open)
			if err != nil {
				t.Error(err)
			}
			runs += result.Runs
		})
	}
	b.ReportMetric(float64(runs)/b.Elapsed().Seconds(), "runs/s")
}
