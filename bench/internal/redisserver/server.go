// Package redisserver starts the Redis servers that bench measures on, and reads their statistics.
package redisserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/internal/fault"
)

// startTimeout is the time limit for the start of a server.
const startTimeout = 20 * time.Second

// Start starts an empty server without persistence, and waits until it answers. It fails with fault.ErrNoRedis, or if the server does not
// answer. The caller must Close it.
func Start(ctx context.Context) (*fault.RedisServer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("redis-server does not answer after %v", startTimeout))
	defer cancel()
	server, err := fault.StartRedis(ctx, "", "", "--save", "", "--appendonly", "no", "--maxclients", "10000")
	if errors.Is(err, fault.ErrNoRedis) {
		return nil, fmt.Errorf("%w; install one, or give a running one by -redis host:port", err)
	}
	return server, err
}
