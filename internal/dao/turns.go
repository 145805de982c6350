package dao

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// mostTurns is how often a command waits for a free connection while others are answered: for a minute in all, or for 15 with a Redis
// in our own process.
const mostTurns = 15

// turns are those of commands that wait for a free connection. A thousand buyers share a few connections, so a command may wait
// for a long time on a slow machine though Redis is well: it keeps waiting as long as other commands are answered. When none was answered
// for poolTimeout, Redis is gone, and the command fails without having been sent.
type turns struct {
	answers atomic.Int64
}

// take calls send, and calls it again if it got no connection, so that nothing was sent, while others were answered.
func (t *turns) take(ctx context.Context, commands []redis.Cmder, send func(context.Context) error) error {
	var err error
	for range mostTurns {
		before := t.answers.Load()
		for _, command := range commands {
			command.SetErr(nil) // of the attempt before
		}
		if err = send(ctx); answered(err) {
			t.answers.Add(1)
			return err
		}
		if !errors.Is(err, redis.ErrPoolTimeout) || t.answers.Load() == before {
			break
		}
	}
	return err
}

// answered reports whether Redis answered, be it with an error.
func answered(err error) bool {
	if err == nil {
		return true
	}
	var reply redis.Error
	return errors.As(err, &reply)
}
