// Package shopcost measures the cost of a sale over HTTP: CPU time and Redis commands of one lockstep server on a real Redis.
package shopcost

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/bench/internal/redisserver"
	"lockstep/bench/internal/result"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/load"
)

// Load of a measurement.
const (
	buyerCount = 200
	timeout    = 5 * time.Minute
)

// Measure builds lockstep from the parent directory, and sells that many pieces with each lock, after a tenth of them as a warm-up.
func Measure(ctx context.Context, locks []string, sales int) (costs []result.SaleCost, err error) {
	dir, err := os.MkdirTemp("", "bench-lockstep-")
	if err != nil {
		return nil, fmt.Errorf("creating a directory for lockstep: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program := filepath.Join(dir, "lockstep")
	if said, err := exec.CommandContext(ctx, "go", "build", "-C", "..", "-o", program, ".").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building lockstep: %w\n%s", err, said)
	}
	for _, lock := range locks {
		cost, err := measureLock(ctx, program, lock, sales)
		if err != nil {
			return nil, fmt.Errorf("measuring sales with %s: %w", lock, err)
		}
		costs = append(costs, cost)
	}
	return costs, nil
}

func measureLock(ctx context.Context, program, lock string, sales int) (cost result.SaleCost, err error) {
	server, err := redisserver.Start(ctx)
	if err != nil {
		return cost, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	client := redisclient.Single(redisclient.Config{Addrs: []string{server.Addr()}})
	defer func() { _ = client.Close() }() // nothing was written

	shop, url, err := startShop(ctx, program, "serve", "--server.addr", "127.0.0.1:0", "--redis.addrs", server.Addr(),
		"--lock.version", lock, "--log.level", "error")
	if err != nil {
		return cost, err
	}
	defer func() { err = errors.Join(err, shop.stop(&cost)) }()
	sell := func(n int) error {
		burst := load.Burst{Targets: []string{url}, Requests: n, Buyers: buyerCount, Stock: int64(n), Timeout: timeout, Progress: func(int) {}}
		sold, err := burst.Run(ctx)
		if err == nil && sold.OK != n {
			err = fmt.Errorf("%d of %d were sold", sold.OK, n)
		}
		return err
	}
	if err := sell(sales / 10); err != nil {
		return cost, err
	}
	before, err := readUsage(ctx, client)
	if err != nil {
		return cost, err
	}
	if err := sell(sales); err != nil {
		return cost, err
	}
	after, err := readUsage(ctx, client)
	cost = result.SaleCost{
		Lock: lock, Sales: sales,
		RedisMicros: (after.seconds - before.seconds) / float64(sales) * 1e6, Commands: float64(after.calls-before.calls) / float64(sales),
	}
	return cost, err
}

// shopProcess is a running lockstep server.
type shopProcess struct{ command *exec.Cmd }

// startShop starts a lockstep server, and returns it with its URL.
func startShop(ctx context.Context, program string, arguments ...string) (*shopProcess, string, error) {
	command := exec.CommandContext(ctx, program, arguments...)
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, "", fmt.Errorf("lockstep serve: %w", err)
	}
	if err := command.Start(); err != nil {
		return nil, "", fmt.Errorf("lockstep serve: %w", err)
	}
	p := &shopProcess{command}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	words := strings.Fields(line)
	if err != nil || len(words) < 2 {
		return nil, "", errors.Join(fmt.Errorf("lockstep serve did not start: %q, %w", line, err), p.stop(new(result.SaleCost)))
	}
	return p, words[1], nil
}

// stop stops the server, and sets the CPU time per sale. That includes the start, which is short beside the sales.
func (p *shopProcess) stop(cost *result.SaleCost) error {
	_ = p.command.Process.Signal(os.Interrupt) // fails if the process has ended
	err := p.command.Wait()
	state := p.command.ProcessState
	if cost.Sales > 0 {
		sales := cost.Sales + cost.Sales/10
		cost.ServerMicros = (state.UserTime() + state.SystemTime()).Seconds() / float64(sales) * 1e6
	}
	if err != nil {
		return fmt.Errorf("lockstep serve: %w", err)
	}
	return nil
}

// usage is the work of a Redis server since its start.
type usage struct {
	seconds float64 // CPU time
	calls   int64   // commands, including those of scripts
}

// readUsage reads the usage of a Redis server.
func readUsage(ctx context.Context, client *redis.Client) (s usage, err error) {
	text, err := client.Info(ctx, "cpu", "commandstats").Result()
	if err != nil {
		return s, fmt.Errorf("INFO: %w", err)
	}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		var seconds float64
		var calls int64
		if _, err := fmt.Sscanf(value, "%g", &seconds); err == nil && (name == "used_cpu_user" || name == "used_cpu_sys") {
			s.seconds += seconds
		}
		if _, err := fmt.Sscanf(value, "calls=%d", &calls); err == nil {
			s.calls += calls
		}
	}
	return s, nil
}
