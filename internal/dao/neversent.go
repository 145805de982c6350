package dao

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// neverSent is a go-redis hook that marks the errors of commands for which there was no connection: they certainly had no
// effect, which package lock, knowing no Redis, could not tell from a lost reply.
type neverSent struct{}

func mark(err error) error {
	if errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted) || errors.Is(err, redis.ErrClosed) {
		return fmt.Errorf("%w: %w", lock.ErrUnavailable, err)
	}
	return err
}

func (neverSent) DialHook(next redis.DialHook) redis.DialHook { return next }

func (neverSent) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := mark(next(ctx, cmd))
		if err != nil {
			cmd.SetErr(err)
		}
		return err
	}
}

func (neverSent) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { return mark(next(ctx, cmds)) }
}
