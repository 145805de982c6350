package redisclient

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Around is a go-redis hook in the form of one function. It is called instead of sending each command or whole pipeline, and calls send to
// send it.
type Around func(ctx context.Context, commands []redis.Cmder, send func(context.Context) error) error

// DialHook implements redis.Hook. It changes nothing.
func (Around) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (a Around) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		return a(ctx, []redis.Cmder{command}, func(ctx context.Context) error { return next(ctx, command) })
	}
}

// ProcessPipelineHook implements redis.Hook.
func (a Around) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		return a(ctx, commands, func(ctx context.Context) error { return next(ctx, commands) })
	}
}
