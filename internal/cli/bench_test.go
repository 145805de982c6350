package cli

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/shop/load"
	"lockstep/internal/test/redistest"
)

// BenchmarkSale sells b.N items over HTTP on a real Redis. Beside the time it counts the commands a sale takes: the lock's, and
// all. Counts say more than times on a noisy machine. For a table:
//
//	go test ./internal/cli -run '^$' -bench Sale -benchtime 2000x
func BenchmarkSale(b *testing.B) {
	server := redistest.Start(b)
	for _, version := range append([]string{"v0"}, locks...) {
		for _, buyers := range []int{1, 16, 200} {
			b.Run(fmt.Sprintf("lock=%s/buyers=%d", version, buyers), func(b *testing.B) {
				s := start(b, "--redis.addrs", server.Addr, "--lock.version", version, "--lock.wait_timeout", "5m")
				var locking, other counter
				s.Redis.Lock.AddHook(&locking)
				s.Redis.Store.AddHook(&other)
				b.ResetTimer()
				result, err := load.Burst{
					Targets: []string{s.url()}, Requests: b.N, Buyers: buyers, Stock: int64(b.N),
					Timeout: 10 * time.Minute, Progress: func(int) {},
				}.Run(b.Context())
				if err != nil || result.OK != b.N {
					b.Fatalf("%+v, %v", result, err)
				}
				sales := float64(b.N)
				b.ReportMetric(result.PerSecond, "sales/s")
				b.ReportMetric(float64(locking.n.Load())/sales, "lock-commands/sale")
				b.ReportMetric(float64(locking.n.Load()+other.n.Load())/sales, "commands/sale")
				b.ReportMetric(result.Latency.P50, "p50-ms")
				b.ReportMetric(result.Latency.Max, "max-ms")
			})
		}
	}
}

// counter is a go-redis hook that counts commands; those of a transaction one by one.
type counter struct{ n atomic.Int64 }

func (c *counter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.n.Add(1)
		return next(ctx, cmd)
	}
}

func (c *counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.n.Add(int64(len(cmds)))
		return next(ctx, cmds)
	}
}
