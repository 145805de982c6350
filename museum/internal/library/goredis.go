package library

import (
	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
	"lockstep/locktest"
)

// goRedis makes a client of go-redis that connects to a node in memory. It has the options of all clients of lockstep: a command is
// sent once. Or it resends: up to three times, as is go-redis's default, but without a random pause before.
func goRedis(p locktest.Process, node int, resends bool) *redis.Client {
	o := redisclient.Options(redisclient.Config{
		Addrs:  []string{p.Addr(node)},
		Dialer: p.Dial,
	}).Simple()
	if resends {
		o.MaxRetries = 3
		o.MinRetryBackoff, o.MaxRetryBackoff = -1, -1
	}
	client := redis.NewClient(o)
	p.Cleanup(func() { _ = client.Close() }) // Closing a simulated connection cannot fail.
	return client
}
