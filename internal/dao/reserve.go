package dao

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
)

// reserve keeps half of the connections for renewals and releases. A thousand waiters that poll take every
// connection there is; a release in the same line would come after all of them, although they wait for nothing else.
type reserve struct {
	others  chan struct{} // has a place for each connection that is not kept
	timeout time.Duration // as the pool's
}

// newReserve makes one for a client of this configuration.
func newReserve(cfg redisclient.Config) *reserve {
	size := cmp.Or(cfg.PoolSize, redisclient.ConnectionsPerCore*runtime.GOMAXPROCS(0))
	return &reserve{
		others:  make(chan struct{}, max(1, size/2)),
		timeout: cmp.Or(cfg.Timeout, redisclient.PoolTimeout),
	}
}

// take calls send when there is a connection for it. If there is none for as long as the pool would wait, it fails as the pool does.
func (r *reserve) take(ctx context.Context, send func(context.Context) error) error {
	if err := r.wait(ctx); err != nil {
		return err
	}
	defer func() { <-r.others }()
	return send(ctx)
}

// wait takes a place.
func (r *reserve) wait(ctx context.Context) error {
	select {
	case r.others <- struct{}{}:
		return nil
	default: // so a command that need not wait needs no timer
	}
	patience := time.NewTimer(r.timeout)
	defer patience.Stop()
	select {
	case r.others <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-patience.C:
		return redis.ErrPoolTimeout
	}
}
