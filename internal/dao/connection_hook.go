package dao

import (
	"cmp"
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock"
)

// connections is the go-redis hook between the commands of one client and its connections.
type connectionHook struct {
	master  *masterTracker // sees that commands reach the master; all clients of a Redis share it
	retrier *connRetrier   // lets commands wait for a free connection
	reserve *connReserve   // keeps connections for holders of the lock; nil: this client keeps none

	cluster *redis.ClusterClient // the client that has this hook, if it is of a Cluster; nil: it is not
}

// newClient makes a client of a single Redis, a Sentinel set or a Cluster, whose commands wait for a free connection as long as others are
// answered. The caller must Close it.
func newClient(cfg redisclient.Config, master *masterTracker) redis.UniversalClient {
	return newClientWithHook(cfg, &connectionHook{master: master, retrier: newConnRetrier(cmp.Or(cfg.Timeout, redisclient.PoolTimeout))})
}

// newLockClient makes one that keeps connections for those who have the lock.
func newLockClient(cfg redisclient.Config, master *masterTracker) redis.UniversalClient {
	return newClientWithHook(cfg, &connectionHook{
		master: master, retrier: newConnRetrier(cmp.Or(cfg.Timeout, redisclient.PoolTimeout)), reserve: newConnReserve(cfg),
	})
}

func newClientWithHook(cfg redisclient.Config, hook *connectionHook) redis.UniversalClient {
	var client redis.UniversalClient
	if cfg.Cluster {
		hook.cluster = newClusterClient(cfg)
		client = hook.cluster
	} else {
		client = redis.NewUniversalClient(redisclient.Options(cfg))
	}
	client.AddHook(hook)
	return client
}

// DialHook implements redis.Hook.
func (c *connectionHook) DialHook(next redis.DialHook) redis.DialHook { return c.master.dialHook(next) }

// ProcessHook implements redis.Hook.
func (c *connectionHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return redisclient.Around(c.send).ProcessHook(next)
}

// ProcessPipelineHook implements redis.Hook.
func (c *connectionHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return redisclient.Around(c.send).ProcessPipelineHook(next)
}

// send sends commands, once there is a connection for them. Those by which go-redis opens one are sent for a command that has it.
func (c *connectionHook) send(ctx context.Context, commands []redis.Cmder, send func(context.Context) error) error {
	toMaster := func(ctx context.Context) error { return c.master.send(ctx, commands, send) }
	if c.cluster != nil {
		toMaster = func(ctx context.Context) error {
			return c.master.send(ctx, commands, func(ctx context.Context) error { return sendWithoutRetry(ctx, c.cluster, send) })
		}
	}
	switch {
	case isHandshake(commands):
		return openConnection(ctx, commands, toMaster)
	case c.reserve == nil || lock.IsHolders(ctx):
		return c.retrier.send(ctx, commands, toMaster)
	default:
		return c.retrier.send(ctx, commands, func(ctx context.Context) error { return c.reserve.send(ctx, toMaster) })
	}
}

// isOpening reports whether a connection is being opened, for another command.
func isHandshake(commands []redis.Cmder) bool {
	return len(commands) > 0 && slices.Contains([]string{"hello", "auth", "select", "readonly", "client"}, commands[0].Name())
}
