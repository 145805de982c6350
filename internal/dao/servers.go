package dao

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/strategy"
)

// ServersOf finds out what a lock can be on: which server the stock's Redis is, and what it can do that not every one can.
func ServersOf(ctx context.Context, client redis.UniversalClient, nodes Nodes) (strategy.Servers, error) {
	if err := client.Ping(ctx).Err(); err != nil {
		return strategy.Servers{}, err
	}
	command, err := compareAndDelete(ctx, client)
	return strategy.Servers{Nodes: len(nodes), Redis: nameOf(ctx, client), CompareAndDelete: command}, err
}

// Version returns the server's name and version, such as Redis 8.2.1; "" if it does not tell them, or is embedded.
func (r *Redis) Version() string {
	if r.embedded != nil {
		return ""
	}
	return r.Servers.Redis
}

// nameOf returns a server's name and version; "" if it does not tell them.
func nameOf(ctx context.Context, client redis.UniversalClient) string {
	said := hello(ctx, client)
	name := said["server"]
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:] + " " + said["version"]
}

// isMeant fails if the server does not answer, is too old, or is a Sentinel, or a node of a Cluster while the client is for a single Redis.
func isMeant(ctx context.Context, client redis.UniversalClient, cfg redisclient.Config) error {
	if err := client.Ping(ctx).Err(); err != nil {
		return err
	}
	said := hello(ctx, client)
	switch {
	case said["mode"] == "sentinel":
		return errSentinel
	case said["mode"] == "cluster" && !cfg.Cluster:
		return errNode
	case len(said) > 0:
		return redisclient.CheckVersion(said["server"], said["version"])
	default: // before Redis 6 there is no HELLO
		return redisclient.CheckVersion("redis", serverInfo(ctx, client, "redis_version"))
	}
}

// hello returns what a server tells of itself; nothing if it does not.
func hello(ctx context.Context, client redis.UniversalClient) map[string]string {
	said := map[string]string{}
	fields, _ := client.Do(ctx, "HELLO").Slice() // for people
	for i := 0; i+1 < len(fields); i += 2 {
		said[fmt.Sprint(fields[i])] = fmt.Sprint(fields[i+1])
	}
	return said
}

// compareAndDelete returns the server's command that deletes a key with a certain value, "" if it has none: it tries them.
func compareAndDelete(ctx context.Context, client redis.UniversalClient) (string, error) {
	const key, value = "{" + lock.Key + "}:none", "none" // nobody sets it
	for _, command := range [][]any{{"DELEX", key, "IFEQ", value}, {"DELIFEQ", key, value}} {
		err := client.Do(ctx, command...).Err()
		switch {
		case err == nil, rediserr.IsDenied(err): // of a command that it does not know, it says so first
			return fmt.Sprint(command[0]), nil
		case !rediserr.IsUnknownCommand(err): // it may have it
			return "", err
		}
	}
	return "", nil
}

// Eviction returns the policy by which Redis evicts keys when it is out of memory, such as volatile-lru; "" if it evicts none, or does not
// tell. Whatever the policy, locks that expire may go.
func (r *Redis) Eviction(ctx context.Context) (policy string) {
	said, _ := r.Store.ConfigGet(ctx, "maxmemory*").Result() // many a host's Redis refuses it
	if said["maxmemory"] == "" || said["maxmemory"] == "0" || said["maxmemory-policy"] == "noeviction" {
		return ""
	}
	return said["maxmemory-policy"]
}
