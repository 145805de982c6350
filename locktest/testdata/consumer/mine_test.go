package consumer

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/locktest"
)

// TestLock is in docs/your-own-lock.md.
func TestLock(t *testing.T) {
	config := locktest.Config{Key: "orders", Faults: "lost-reply=1"}
	locktest.Explore(t, config, func(p locktest.Process) (locktest.Lock, error) {
		client := redis.NewClient(&redis.Options{Addr: p.Addr(0), Dialer: p.Dial, MaxRetries: -1})
		p.Cleanup(func() { _ = client.Close() })
		return mine{client}, nil
	})
}

type mine struct{ client *redis.Client }

func (l mine) Lock(ctx context.Context) (locktest.Held, error) {
	return adapter(Lock{goRedis(l), "orders", false}).Lock(ctx)
}
