package dao

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// mostTurns is how often a command waits for a free connection while others are answered: for a minute in all, or for 15 with a Redis
// in our own process.
const mostTurns = 15

// turns is a go-redis hook for commands that wait for a free connection. A thousand buyers share a few, so one of them may wait for long
// on a machine that is slow, and Redis is not to blame: as long as others are answered the command keeps waiting. When
// nobody was for poolTimeout, Redis is gone. A command that got no connection certainly had no effect; the error
// says so, for package lock, knowing no Redis, could not tell it from a lost reply.
type turns struct {
	answers atomic.Int64
}

// take runs send, again where it got no connection, and nothing was sent, though others were answered meanwhile.
func (t *turns) take(send func() error) error {
	var err error
	for range mostTurns {
		before := t.answers.Load()
		if err = send(); answered(err) {
			t.answers.Add(1)
			return err
		}
		if !errors.Is(err, redis.ErrPoolTimeout) || t.answers.Load() == before {
			break
		}
	}
	if errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted) || errors.Is(err, redis.ErrClosed) {
		return fmt.Errorf("%w: %w", lock.ErrUnavailable, err)
	}
	return err
}

// answered reports whether Redis answered, be it with an error.
func answered(err error) bool {
	var reply redis.Error
	return err == nil || errors.As(err, &reply)
}

func (t *turns) DialHook(next redis.DialHook) redis.DialHook { return next }

func (t *turns) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := t.take(func() error {
			cmd.SetErr(nil) // of the turn before
			return next(ctx, cmd)
		})
		if err != nil {
			cmd.SetErr(err)
		}
		return err
	}
}

func (t *turns) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return t.take(func() error {
			for _, cmd := range cmds {
				cmd.SetErr(nil) // of the turn before
			}
			return next(ctx, cmds)
		})
	}
}
