package dao

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
)

// connReserve reserves half of the connections of a pool for renewals and releases. Otherwise a thousand polling waiters would take every
// connection, and the release for which they all wait would queue behind them.
type connReserve struct {
	unreserved chan struct{} // semaphore of the connections that waiters may use
	timeout    time.Duration // longest wait for a connection; equals the pool's timeout
}

// newConnReserve returns the reserve for a client with this configuration.
func newConnReserve(cfg redisclient.Config) *connReserve {
	size := cmp.Or(cfg.PoolSize, redisclient.ConnectionsPerCore*runtime.GOMAXPROCS(0))
	return &connReserve{
		unreserved: make(chan struct{}, max(1, size/2)),
		timeout:    cmp.Or(cfg.Timeout, redisclient.PoolTimeout),
	}
}

// send calls send when an unreserved connection is available. It fails with redis.ErrPoolTimeout, like the pool, after the timeout.
func (r *connReserve) send(ctx context.Context, send func(context.Context) error) error {
	if err := r.wait(ctx); err != nil {
		return err
	}
	defer func() { <-r.unreserved }()
	return send(ctx)
}

// wait acquires the semaphore.
func (r *connReserve) wait(ctx context.Context) error {
	select {
	case r.unreserved <- struct{}{}:
		return nil
	default: // Without a wait no timer is created.
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
