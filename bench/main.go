// Bench compares the locks of the evolution with the libraries that people use. It runs the same sale (lock, GET, SET, unlock) under each
// of them on a real Redis, in one run, and writes tables, figures and a plot.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/race"
	"lockstep/bench/internal/report"
	"lockstep/bench/internal/result"
	"lockstep/bench/internal/shopcost"
	"lockstep/bench/internal/worker"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	logging.Disable() // go-redis logs what it also returns as errors
	code := run(ctx, os.Args[1:], contestants.Table(), os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run returns the exit code: 1 if a result is invalid, 2 if measuring failed.
func run(ctx context.Context, args []string, table []contestants.Contestant, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == worker.Argument {
		if err := worker.Main(ctx, table, stdin, stdout); err != nil {
			fmt.Fprintln(stderr, err)
			return 2
		}
		return 0
	}
	options, err := parse(args, table, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, err)
		return 2
	}
	outputs, err := options.openOutputs()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	results, err := measure(ctx, options, strings.Join(args, " "), stderr)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "interrupted: nothing was written")
		return 2
	case err == nil:
		err = report.Text(stdout, results, table)
	}
	for _, output := range outputs {
		if err == nil {
			err = output.replace(results, table)
		}
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	if invalid := results.Invalid(); len(invalid) > 0 {
		for _, c := range invalid {
			fmt.Fprintf(stderr, "%s: +%g ms, %d processes, %d buyers: %s: %s\n",
				c.Contestant, c.AddedMillis, c.Processes, c.Buyers, c.Status, c.Note)
		}
		return 1
	}
	return 0
}

// measure runs the plan, and measures the cost of a sale over HTTP if the options ask for it.
func measure(ctx context.Context, o options, command string, stderr io.Writer) (results result.Run, err error) {
	program, err := os.Executable()
	if err != nil {
		return results, fmt.Errorf("finding this program: %w", err)
	}
	testbed, err := race.Open(ctx, o.redis, o.settings, program, worker.Argument)
	if err != nil {
		return results, err
	}
	defer func() { err = errors.Join(err, testbed.Close()) }()
	servers, err := testbed.Servers(ctx)
	if err != nil {
		return results, err
	}
	log := func(line string) { fmt.Fprintln(stderr, line) }
	o.plan.Contestants = slices.DeleteFunc(o.plan.Contestants, func(c contestants.Contestant) bool {
		err := c.Fits(servers)
		if err != nil {
			log("skipped: " + err.Error())
		}
		return err != nil
	})
	seed := o.seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	began := time.Now()
	session := race.Session{
		Testbed: testbed, Plan: o.plan, Random: rand.New(rand.NewPCG(seed, 0)), //nolint:gosec // a random order, not a secret
		Log: log,
	}
	cells, pings, err := session.Run(ctx)
	if err != nil {
		return results, err
	}
	var costs []result.SaleCost
	if o.shopSales > 0 {
		if costs, err = shopcost.Measure(ctx, shopLocks(), o.shopSales); err != nil {
			return results, err
		}
		for _, cost := range costs {
			log(fmt.Sprintf("a sale with %s: %.0f µs of CPU time of the server, %.0f µs of Redis, %.1f commands",
				cost.Lock, cost.ServerMicros, cost.RedisMicros, cost.Commands))
		}
	}
	return result.Run{
		Machine: report.ThisMachine(servers.Redis), Began: began, Seconds: time.Since(began).Seconds(), Command: command,
		Settings: o.settings, Pings: pings, Cells: cells, Costs: costs,
	}, nil
}

// shopLocks returns the locks for which the cost of a sale over HTTP is measured.
func shopLocks() []string { return []string{"v0", "v4", "v9", "v10", "v11", "atomic"} }
