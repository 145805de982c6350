package dao

import (
	"cmp"
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock"
)

// connectionHook is the go-redis hook of one client: it decides when a command gets a connection, and watches for a demoted master.
type connectionHook struct {
	master  *masterTracker // detects that a server is no longer the master; shared by all clients of a Redis
	retrier *connRetrier   // makes commands wait for a free connection
	reserve *connReserve   // connections reserved for holders of the lock; nil: none

	cluster *redis.ClusterClient // the client this hook belongs to, if it is a Cluster client; otherwise nil
}

// newClient returns a client of a single Redis, a Sentinel set or a Cluster. Its commands wait for a free connection as long as others are
// answered. The caller must Close it.
func newClient(cfg redisclient.Config, master *masterTracker) redis.UniversalClient {
	return newClientWithHook(cfg, &connectionHook{master: master, retrier: newConnRetrier(cmp.Or(cfg.Timeout, redisclient.PoolTimeout))})
}

// newLockClient is newClient with a connection reserve for the holders of locks.
func newLockClient(cfg redisclient.Config, master *masterTracker) redis.UniversalClient {
	return newClientWithHook(cfg, &connectionHook{
		master: master, retrier: newConnRetrier(cmp.Or(cfg.Timeout, redisclient.PoolTimeout)), reserve: newConnReserve(cfg),
	})
}

// newClientWithHook returns a client that sends its commands through hook.
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

// send sends commands when a connection is available for them. The commands of a handshake do not wait: they belong to a command that has
// its connection already.
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
	case c.reserve == nil || lock.IsFromHolder(ctx):
		return c.retrier.send(ctx, commands, toMaster)
	default:
		return c.retrier.send(ctx, commands, func(ctx context.Context) error { return c.reserve.send(ctx, toMaster) })
	}
}

// isHandshake reports whether commands are those by which go-redis opens a connection for another command.
func isHandshake(commands []redis.Cmder) bool {
	return len(commands) > 0 && slices.Contains([]string{"hello", "auth", "select", "readonly", "client"}, commands[0].Name())
}
