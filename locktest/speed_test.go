package locktest_test

import (
	"testing"

	"lockstep/internal/dao/redisclient"
	"lockstep/locktest"
)

// BenchmarkRuns measures runs per second of two actors on a SET NX lock. Half of the time goes into the Redis client, which has small
// buffers and skips the handshake for this reason.
func BenchmarkRuns(b *testing.B) {
	open := func(p locktest.Process) (locktest.Lock, error) {
		c := redisclient.Single(redisclient.Config{Addrs: []string{p.Addr(0)}, Dialer: p.Dial, Buffer: 4096})
		p.Cleanup(func() { _ = c.Close() })
		return &toy{c, polled(lockByOwner(compareAndDelete, true)), nil}, nil
	}
	runs := 0
	for b.Loop() {
		runInTest(func(t *testing.T) {
			result, err := locktest.Search(t, newConfig("lost-reply=1,lost-request=1,cancel=1,slow=1"), open)
			if err != nil {
				t.Error(err)
			}
			runs += result.Runs
		})
	}
	b.ReportMetric(float64(runs)/b.Elapsed().Seconds(), "runs/s")
}
