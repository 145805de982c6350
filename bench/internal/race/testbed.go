// Package race runs trials: the contestants sell one after the other, each in worker processes of its own, under the same conditions. Begin
// with Session.Run and Testbed.Run.
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

// Stock is the initial stock of a trial, more than it can sell.
const Stock = 1_000_000_000

// reportTimeout is the time after the window until a worker process without a report counts as hung and is killed.
const reportTimeout = 10 * time.Second

// ErrNotEmpty is returned for a Redis with data, which the trials would delete.
var ErrNotEmpty = errors.New("that Redis is not empty, and each trial empties it: give an empty one, or none")

// Testbed has the Redis servers of trials, and the command of their worker processes. The caller must Close it.
type Testbed struct {
	Command       []string      // program of a worker process, and its arguments
	ReportTimeout time.Duration // time after the window until a worker process counts as hung; 0: reportTimeout
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
		return nil, errors.Join(fmt.Errorf("no Redis answers at %s: %w; start one there, or give none", addr, err), t.Close())
	case keys > 0:
		return nil, errors.Join(fmt.Errorf("%s has %d keys: %w", addr, keys, ErrNotEmpty), t.Close())
	}
	return t, nil
}

// ensureServers starts servers until there are n.
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

// Servers returns the name, the version and the capabilities of the first server.
func (t *Testbed) Servers(ctx context.Context) (strategy.Servers, error) {
	return dao.DetectServers(ctx, t.nodes[0], nil)
}

// Close empties the servers that trials used, and stops those that the testbed started.
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

// Trial is a contestant under a condition.
type Trial struct {
	Contestant contestants.Contestant
	result.Condition
	Repetition int
	Warmup     time.Duration // time before the window
	Window     time.Duration // measured time
}

// buyers returns the number of buyers of each process, in shares as even as possible. The limit has a single buyer.
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
