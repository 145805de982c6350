package library

import (
	"context"
	"net"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/redisclient"
)

// goRedis makes a client of go-redis that connects to a node in memory. It has the options of all clients of lockstep: a command is
// sent once. (By default go-redis would repeat it up to three times.)
func goRedis(dial Dial, node int) *redis.Client {
	return redisclient.Single(redisclient.Config{
		Addrs:  []string{"127.0.0.1:6379"}, // for its name alone
		Dialer: func(context.Context, string, string) (net.Conn, error) { return dial(node), nil },
	})
}
