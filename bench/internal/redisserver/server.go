// Package redisserver starts real Redis servers to measure on, and asks them what they did.
package redisserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/internal/fault"
)

// startTimeout is how long a server may take to start.
const startTimeout = 20 * time.Second

// Start starts a server, empty, which keeps nothing, and waits until it answers. It fails with fault.ErrNoRedis, or if it does not
// answer. The caller must Close it.
func Start(ctx context.Context) (*fault.RedisServer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("redis-server does not answer after %v", startTimeout))
	defer cancel()
	server, err := fault.StartRedis(ctx, "", "", "--save", "", "--appendonly", "no", "--maxclients", "10000")
	if errors.Is(err, fault.ErrNoRedis) {
		return nil, fmt.Errorf("%w; install one, or name one that runs by --redis host:port", err)
	}
	return server, err
}
