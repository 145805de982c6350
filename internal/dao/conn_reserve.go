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
type connReserve struct {
	unreserved chan struct{} // has a place for each connection that is not kept
	timeout    time.Duration // as the pool's
}

// newReserve makes one for a client of this configuration.
func newConnReserve(cfg redisclient.Config) *connReserve {
	size := cmp.Or(cfg.PoolSize, redisclient.ConnectionsPerCore*runtime.GOMAXPROCS(0))
	return &connReserve{
		unreserved: make(chan struct{}, max(1, size/2)),
		timeout:    cmp.Or(cfg.Timeout, redisclient.PoolTimeout),
	}
}

// take calls send when there is a connection for it. If there is none for as long as the pool would wait, it fails as the pool does.
func (r *connReserve) send(ctx context.Context, send func(context.Context) error) error {
	if err := r.wait(ctx); err != nil {
		return err
	}
	defer func() { <-r.unreserved }()
	return send(ctx)
}

// wait takes a place.
func (r *connReserve) wait(ctx context.Context) error {
	select {
	case r.unreserved <- struct{}{}:
		return nil
	default: // so a command that need not wait needs no timer
	}
	timer := time.NewTimer(r.timeout)
	defer timer.Stop()
	select {
	case r.unreserved <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return redis.ErrPoolTimeout
	}
}
