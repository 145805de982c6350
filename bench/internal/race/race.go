// Package race has the contestants sell one after the other, each in processes of its own, under the same conditions.
package race

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/bench/internal/contest"
	"lockstep/bench/internal/redisserver"
	"lockstep/bench/internal/result"
	"lockstep/internal/redisclient"
)

// Stock is what there is to sell in each cell: enough.
const Stock = 1_000_000_000

// patience is how long a child may take beyond what it was told, before it counts as hung and is killed.
const patience = 10 * time.Second

// ErrNotEmpty means that a Redis that was named holds data, which the race would delete.
var ErrNotEmpty = errors.New("that Redis is not empty, and every cell would empty it: name one that holds nothing, or none at all")

// Track is where the races are run: the Redis servers, and how a child is started. The caller must Close it.
type Track struct {
	Command  []string      // starts a crew: a program and its arguments
	Patience time.Duration // as patience; 0 is the default
	Settings result.Settings

	nodes   []*redis.Client
	servers []*redisserver.Server
	used    bool
}

// Open opens a track on the Redis at addr, or on a server of its own if addr is empty.
func Open(ctx context.Context, addr string, settings result.Settings, command ...string) (*Track, error) {
	t := &Track{Command: command, Settings: settings}
	if addr == "" {
		return t, t.need(ctx, 1)
	}
	client := redisclient.Single(redisclient.Config{Addrs: []string{addr}})
	t.nodes = append(t.nodes, client)
	keys, err := client.DBSize(ctx).Result()
	switch {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("no Redis answers at %s: %w; start one there, or name none", addr, err), t.Close())
	case keys > 0:
		return nil, errors.Join(fmt.Errorf("%s has %d keys: %w", addr, keys, ErrNotEmpty), t.Close())
	}
	return t, nil
}

// need sees to it that there are so many servers.
func (t *Track) need(ctx context.Context, n int) error {
	for len(t.nodes) < n {
		server, err := redisserver.Start(ctx)
		if err != nil {
			return err
		}
		t.servers = append(t.servers, server)
		t.nodes = append(t.nodes, redisclient.Single(redisclient.Config{Addrs: []string{server.Addr}}))
	}
	return nil
}

// RedisVersion is that of the first server.
func (t *Track) RedisVersion(ctx context.Context) (string, error) {
	return redisserver.Version(ctx, t.nodes[0])
}

// Close empties the servers it has used, and ends those that it started.
func (t *Track) Close() error {
	var errs []error
	for _, node := range t.nodes {
		if t.used {
			errs = append(errs, node.FlushDB(context.Background()).Err())
		}
		errs = append(errs, node.Close())
	}
	for _, server := range t.servers {
		errs = append(errs, server.Stop())
	}
	return errors.Join(errs...)
}

// Heat is one contestant under one condition.
type Heat struct {
	Contestant contest.Contestant
	result.Condition
	Repetition int
	Warmup     time.Duration // not measured
	Stretch    time.Duration // measured
}

// workers are the workers of each process: as even shares as can be. The limit is one, whatever the condition.
func (h Heat) workers() []int {
	if h.Contestant.Kind == contest.Limit {
		return []int{1}
	}
	var shares []int
	for i := range min(h.Processes, h.Waiters) {
		shares = append(shares, (h.Waiters+i)/min(h.Processes, h.Waiters))
	}
	return shares
}
