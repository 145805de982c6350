package library

import (
	"context"
	"net"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
)

// goRedis makes a client of go-redis that connects to a node in memory. It has the options of all clients of lockstep: a command is
// sent once. Or it resends: up to three times, as is go-redis's default, but without a random pause before.
func goRedis(dial Dial, node int, resends bool) *redis.Client {
	o := redisclient.Options(redisclient.Config{
		Addrs:  []string{"127.0.0.1:6379"}, // for its name alone
		Dialer: func(context.Context, string, string) (net.Conn, error) { return dial(node), nil },
	}).Simple()
	if resends {
		o.MaxRetries = 3
		o.MinRetryBackoff, o.MaxRetryBackoff = -1, -1
	}
	return redis.NewClient(o)
}
