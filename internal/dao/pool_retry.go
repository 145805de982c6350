package dao

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock/rediserr"
)

// mostTurns is how often a command waits for a free connection while others are answered: for a minute in all, or for 15 with a Redis
// in our own process.
const maxAttempts = 15

// turns are those of commands that wait for a free connection. A thousand buyers share a few connections, so a command may wait
// for a long time on a slow machine though Redis is well: it keeps waiting as long as other commands are answered. When none was answered
// for poolTimeout, Redis is gone, and the command fails without having been sent. A connection that Redis refuses, as it has too many, is
// waited for as one of the pool is.
type connRetrier struct {
	timeout time.Duration // as the pool's
	answers atomic.Int64
	freed   chan struct{} // has a value if a connection may be free since somebody was refused one
}

func newConnRetrier(timeout time.Duration) *connRetrier {
	return &connRetrier{timeout: timeout, freed: make(chan struct{}, 1)}
}

// take calls send, and calls it again if it got no connection, so that nothing was sent, while others were answered.
func (t *connRetrier) send(ctx context.Context, commands []redis.Cmder, send func(context.Context) error) error {
	var err error
	for range maxAttempts {
		before := t.answers.Load()
		if err = t.sendWhenConnected(ctx, commands, send); err == nil || rediserr.IsAnswer(err) {
			t.answers.Add(1)
			t.signalFreed()
			return err
		}
		noConnection := errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, errTooManyClients)
		if !noConnection || t.answers.Load() == before {
			break
		}
	}
	return err
}

// sendOnceConnected calls send, and again whenever a connection may be free, as long as Redis refuses one, up to the pool's timeout.
func (t *connRetrier) sendWhenConnected(ctx context.Context, commands []redis.Cmder, send func(context.Context) error) error {
	var timeout <-chan time.Time
	for {
		for _, command := range commands {
			command.SetErr(nil) // of the attempt before
		}
		err := send(ctx)
		if !errors.Is(err, errTooManyClients) {
			return err
		}
		if timeout == nil {
			timer := time.NewTimer(t.timeout)
			defer timer.Stop()
			timeout = timer.C
		}
		select {
		case <-t.freed:
		case <-timeout:
			return err
		case <-ctx.Done():
			return err
		}
	}
}

// free lets one of those who were refused a connection try again: a command was answered, so its connection may be free.
func (t *connRetrier) signalFreed() {
	select {
	case t.freed <- struct{}{}:
	default:
	}
}
