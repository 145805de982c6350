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

// DetectServers describes the servers that a lock can use: the name and version of the stock's Redis, its command for compare-and-delete,
// and the number of nodes.
func DetectServers(ctx context.Context, client redis.UniversalClient, nodes Nodes) (strategy.Servers, error) {
	if err := client.Ping(ctx).Err(); err != nil {
		return strategy.Servers{}, err
	}
	command, err := findCompareAndDelete(ctx, client)
	return strategy.Servers{Nodes: len(nodes), Redis: serverName(ctx, client), CompareAndDelete: command}, err
}

// Version returns the name and version of the server, such as Redis 8.2.1; "" if it is embedded or does not disclose them.
func (r *Redis) Version() string {
	if r.embedded != nil {
		return ""
	}
	return r.Servers.Redis
}

// serverName returns the name and version of a server; "" if it does not disclose them.
func serverName(ctx context.Context, client redis.UniversalClient) string {
	fields := helloFields(ctx, client)
	name := fields["server"]
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:] + " " + fields["version"]
}

// checkServer fails if the server does not answer, is too old, or is of another kind than configured: a Sentinel, or a Cluster node
// although the client is for a single Redis.
func checkServer(ctx context.Context, client redis.UniversalClient, cfg redisclient.Config) error {
	if err := client.Ping(ctx).Err(); err != nil {
		return err
	}
	fields := helloFields(ctx, client)
	switch {
	case fields["mode"] == "sentinel":
		return errIsSentinel
	case fields["mode"] == "cluster" && !cfg.Cluster:
		return errIsClusterNode
	case len(fields) > 0:
		return redisclient.CheckVersion(fields["server"], fields["version"])
	default: // Redis before version 6 has no HELLO.
		return redisclient.CheckVersion("redis", serverInfo(ctx, client, "redis_version"))
	}
}

// helloFields returns the fields of the reply to HELLO, in which a server describes itself; empty if the command fails.
func helloFields(ctx context.Context, client redis.UniversalClient) map[string]string {
	fields := map[string]string{}
	reply, _ := client.Do(ctx, "HELLO").Slice() // Errors are ignored: callers treat missing fields as unknown.
	for i := 0; i+1 < len(reply); i += 2 {
		fields[fmt.Sprint(reply[i])] = fmt.Sprint(reply[i+1])
	}
	return fields
}

// findCompareAndDelete returns the name of the server's compare-and-delete command, found by trying each; "" if there is none.
func findCompareAndDelete(ctx context.Context, client redis.UniversalClient) (string, error) {
	const key, value = "{" + lock.Key + "}:none", "none" // never set
	for _, command := range [][]any{{"DELEX", key, "IFEQ", value}, {"DELIFEQ", key, value}} {
		err := client.Do(ctx, command...).Err()
		switch {
		case err == nil, rediserr.IsDenied(err): // An unknown command is reported before a missing right.
			return fmt.Sprint(command[0]), nil
		case !rediserr.IsUnknownCommand(err): // The command may exist.
			return "", err
		}
	}
	return "", nil
}

// EvictionPolicy returns the policy by which Redis evicts keys when memory is full, such as volatile-lru; "" if it evicts none or does not
// disclose it. Every eviction policy may evict a lock that has an expiry.
func (r *Redis) EvictionPolicy(ctx context.Context) (policy string) {
	fields, _ := r.Store.ConfigGet(ctx, "maxmemory*").Result() // Many hosted Redis services refuse CONFIG.
	if fields["maxmemory"] == "" || fields["maxmemory"] == "0" || fields["maxmemory-policy"] == "noeviction" {
		return ""
	}
	return fields["maxmemory-policy"]
}
