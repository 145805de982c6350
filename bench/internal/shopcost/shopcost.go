// Package shopcost measures what a sale of the whole shop costs: one lockstep serve on a real Redis, and buyers over HTTP.
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

// How many buy, and for how long one may take.
const (
	buyerCount = 200
	timeout    = 5 * time.Minute
)

// Measure builds lockstep from the directory above, and sells so many pieces with each lock, after a tenth of them to warm up.
func Measure(ctx context.Context, locks []string, sales int) (costs []result.SaleCost, err error) {
	dir, err := os.MkdirTemp("", "bench-lockstep-")
	if err != nil {
		return nil, fmt.Errorf("a directory for lockstep: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program := filepath.Join(dir, "lockstep")
	if said, err := exec.CommandContext(ctx, "go", "build", "-C", "..", "-o", program, ".").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building lockstep: %w\n%s", err, said)
	}
	for _, lock := range locks {
		cost, err := measureLock(ctx, program, lock, sales)
		if err != nil {
			return nil, fmt.Errorf("the whole shop with %s: %w", lock, err)
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
	defer func() { _ = client.Close() }() // it only looks

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

// shopProcess is a shop.
type shopProcess struct{ command *exec.Cmd }

// startShop starts a shop, and returns its URL.
func startShop(ctx context.Context, program string, arguments ...string) (*shopProcess, string, error) {
	command := exec.CommandContext(ctx, program, arguments...)
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, "", fmt.Errorf("the shop: %w", err)
	}
	if err := command.Start(); err != nil {
		return nil, "", fmt.Errorf("the shop: %w", err)
	}
	p := &shopProcess{command}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	words := strings.Fields(line)
	if err != nil || len(words) < 2 {
		return nil, "", errors.Join(fmt.Errorf("the shop did not start: %q, %w", line, err), p.stop(new(result.SaleCost)))
	}
	return p, words[1], nil
}

// stop ends the shop, and notes the time of processors that it took, all of it: it sells for much longer than it starts.
func (p *shopProcess) stop(cost *result.SaleCost) error {
	_ = p.command.Process.Signal(os.Interrupt) // it may have ended
	err := p.command.Wait()
	state := p.command.ProcessState
	if cost.Sales > 0 {
		sales := cost.Sales + cost.Sales/10
		cost.ServerMicros = (state.UserTime() + state.SystemTime()).Seconds() / float64(sales) * 1e6
	}
	if err != nil {
		return fmt.Errorf("the shop: %w", err)
	}
	return nil
}

// usage is what a Redis has done since it started.
type usage struct {
	seconds float64 // of processors
	calls   int64   // of commands, those of scripts too
}

// readUsage asks a Redis what it has done.
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
