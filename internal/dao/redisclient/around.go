package redisclient

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Around is a go-redis hook: it is called around the sending of every command, and of every pipeline as a whole.
type Around func(ctx context.Context, commands []redis.Cmder, send func(context.Context) error) error

// DialHook is part of redis.Hook.
func (Around) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook is part of redis.Hook.
func (a Around) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		return a(ctx, []redis.Cmder{command}, func(ctx context.Context) error { return next(ctx, command) })
	}
}

// ProcessPipelineHook is part of redis.Hook.
func (a Around) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		return a(ctx, commands, func(ctx context.Context) error { return next(ctx, commands) })
	}
}
