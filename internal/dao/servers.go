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
	return strategy.Servers{Nodes: len(nodes), Redis: serverName(ctx, client), CompareAndDelete: command}, err
}

// Version returns the server's name and version, such as Redis 8.2.1; "" if it does not tell them, or is embedded.
func (r *Redis) Version() string {
	if r.embedded != nil {
		return ""
	}
	return r.Servers.Redis
}

// nameOf returns a server's name and version; "" if it does not tell them.
func serverName(ctx context.Context, client redis.UniversalClient) string {
	fields := hello(ctx, client)
	name := fields["server"]
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:] + " " + fields["version"]
}

// isMeant fails if the server does not answer, is too old, or is a Sentinel, or a node of a Cluster while the client is for a single Redis.
func checkServer(ctx context.Context, client redis.UniversalClient, cfg redisclient.Config) error {
	if err := client.Ping(ctx).Err(); err != nil {
		return err
	}
	fields := hello(ctx, client)
	switch {
	case fields["mode"] == "sentinel":
		return errIsSentinel
	case fields["mode"] == "cluster" && !cfg.Cluster:
		return errIsClusterNode
	case len(fields) > 0:
		return redisclient.CheckVersion(fields["server"], fields["version"])
	default: // before Redis 6 there is no HELLO
		return redisclient.CheckVersion("redis", serverInfo(ctx, client, "redis_version"))
	}
}

// hello returns what a server tells of itself; nothing if it does not.
func hello(ctx context.Context, client redis.UniversalClient) map[string]string {
	fields := map[string]string{}
	reply, _ := client.Do(ctx, "HELLO").Slice() // Servers before Redis 6 refuse HELLO; nobody depends on its fields.
	for i := 0; i+1 < len(reply); i += 2 {
		fields[fmt.Sprint(reply[i])] = fmt.Sprint(reply[i+1])
	}
	return fields
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
	fields, _ := r.Store.ConfigGet(ctx, "maxmemory*").Result() // many a host's Redis refuses it
	if fields["maxmemory"] == "" || fields["maxmemory"] == "0" || fields["maxmemory-policy"] == "noeviction" {
		return ""
	}
	return fields["maxmemory-policy"]
}
