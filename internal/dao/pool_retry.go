package dao

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock/rediserr"
)

// maxAttempts bounds how often a command waits for a free connection while others are answered: 15 pool timeouts are a minute, or 15
// minutes with an embedded Redis.
const maxAttempts = 15

// connRetrier retries commands that got no connection. A thousand buyers share a few connections, so on a slow machine a command may wait
// long although Redis is healthy: it keeps waiting as long as other commands are answered. If none is answered within timeout, Redis is
// considered gone, and the command fails without having been sent. If Redis refuses a connection (maxclients), the command waits as for a
// pooled one.
type connRetrier struct {
	timeout time.Duration // longest wait for a connection per attempt; equals the pool's timeout
	answers atomic.Int64  // number of commands answered so far
	freed   chan struct{} // holds a value if a connection may have become free since one was refused
}

// newConnRetrier returns the retrier of a client whose pool has this timeout.
func newConnRetrier(timeout time.Duration) *connRetrier {
	return &connRetrier{timeout: timeout, freed: make(chan struct{}, 1)}
}

// send calls send, and calls it again if it got no connection, and so sent nothing, while other commands were answered.
func (r *connRetrier) send(ctx context.Context, commands []redis.Cmder, send func(context.Context) error) error {
	var err error
	for range maxAttempts {
		before := r.answers.Load()
		if err = r.sendWhenConnected(ctx, commands, send); err == nil || rediserr.IsAnswer(err) {
			r.answers.Add(1)
			r.signalFreed()
			return err
		}
		noConnection := errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, errTooManyClients)
		if !noConnection || r.answers.Load() == before {
			break
		}
	}
	return err
}

// sendWhenConnected calls send, and while Redis refuses the connection calls it again whenever one may be free, for at most the timeout.
func (r *connRetrier) sendWhenConnected(ctx context.Context, commands []redis.Cmder, send func(context.Context) error) error {
	var timeout <-chan time.Time
	for {
		for _, command := range commands {
			command.SetErr(nil) // Clear the error of the previous attempt.
		}
		err := send(ctx)
		if !errors.Is(err, errTooManyClients) {
			return err
		}
		if timeout == nil {
			timer := time.NewTimer(r.timeout)
			defer timer.Stop()
			timeout = timer.C
		}
		select {
		case <-r.freed:
		case <-timeout:
			return err
		case <-ctx.Done():
			return err
		}
	}
}

// signalFreed wakes one command that was refused a connection, because the connection of an answered command may be free.
func (r *connRetrier) signalFreed() {
	select {
	case r.freed <- struct{}{}:
	default:
	}
}
