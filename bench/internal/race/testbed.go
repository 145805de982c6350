// Package race runs the trials: the contestants sell one after the other, each in processes of its own, under the same conditions.
package race

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/redisserver"
	"lockstep/bench/internal/result"
	"lockstep/internal/dao"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/strategy"
)

// Stock is what each trial can sell: more than it will.
const Stock = 1_000_000_000

// reportTimeout is how long a worker process may take beyond its window before it counts as hung and is killed.
const reportTimeout = 10 * time.Second

// ErrNotEmpty means that the named Redis holds data. The trials would delete it.
var ErrNotEmpty = errors.New("that Redis is not empty, and every trial empties it: name an empty one, or none")

// Testbed is what trials run on: the Redis servers, and how a worker process is started. The caller must Close it.
type Testbed struct {
	Command       []string      // starts a worker process: a program and its arguments
	ReportTimeout time.Duration // as patience; 0 is the default
	Settings      result.Settings

	nodes   []*redis.Client
	servers []io.Closer
	isUsed  bool
}

// Open opens a testbed on the Redis at addr, or on a server of its own if addr is empty.
func Open(ctx context.Context, addr string, settings result.Settings, command ...string) (*Testbed, error) {
	t := &Testbed{Command: command, Settings: settings}
	if addr == "" {
		return t, t.ensureServers(ctx, 1)
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

// ensureServers makes sure that there are n servers.
func (t *Testbed) ensureServers(ctx context.Context, n int) error {
	for len(t.nodes) < n {
		server, err := redisserver.Start(ctx)
		if err != nil {
			return err
		}
		t.servers = append(t.servers, server)
		t.nodes = append(t.nodes, redisclient.Single(redisclient.Config{Addrs: []string{server.Addr()}}))
	}
	return nil
}

// Servers says what the first server is, and what it can do.
func (t *Testbed) Servers(ctx context.Context) (strategy.Servers, error) {
	return dao.ServersOf(ctx, t.nodes[0], nil)
}

// Close empties the servers it has used, and ends those that it started.
func (t *Testbed) Close() error {
	var errs []error
	for _, node := range t.nodes {
		if t.isUsed {
			errs = append(errs, node.FlushDB(context.Background()).Err())
		}
		errs = append(errs, node.Close())
	}
	for _, server := range t.servers {
		errs = append(errs, server.Close())
	}
	return errors.Join(errs...)
}

// Trial is one contestant under one condition.
type Trial struct {
	Contestant contestants.Contestant
	result.Condition
	Repetition int
	Warmup     time.Duration // not measured
	Window     time.Duration // measured
}

// buyers gives the number of buyers of each process, in shares as even as possible. The limit has one buyer in all.
func (t Trial) buyers() []int {
	if t.Contestant.Kind == contestants.Limit {
		return []int{1}
	}
	var shares []int
	for i := range min(t.Processes, t.Buyers) {
		shares = append(shares, (t.Buyers+i)/min(t.Processes, t.Buyers))
	}
	return shares
}
