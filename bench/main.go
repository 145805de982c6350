// Bench runs the same sale (lock, GET, SET, unlock) under every lock of the evolution, and under the libraries that people use, on
// a real Redis; side by side, in one run.
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
	logging.Disable() // go-redis would log what we get as errors
	code := run(ctx, os.Args[1:], contestants.Table(), os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run gives the exit status: 1 if something was measured that must not be, 2 if the measuring itself failed.
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
		fmt.Fprintln(stderr, "interrupted: nothing is written")
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

// measure runs the whole plan.
func measure(ctx context.Context, o options, command string, stderr io.Writer) (results result.Run, err error) {
	program, err := os.Executable()
	if err != nil {
		return results, fmt.Errorf("where this program is: %w", err)
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
			log("left out: " + err.Error())
		}
		return err != nil
	})
	seed := o.seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	began := time.Now()
	session := race.Session{
		Testbed: testbed, Plan: o.plan, Random: rand.New(rand.NewPCG(seed, 0)), //nolint:gosec // an order, not a secret
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
			log(fmt.Sprintf("a sale with %s: %.0f µs of the server's processor, %.0f µs of Redis's, %.1f commands",
				cost.Lock, cost.ServerMicros, cost.RedisMicros, cost.Commands))
		}
	}
	return result.Run{
		Machine: report.ThisMachine(servers.Redis), Began: began, Seconds: time.Since(began).Seconds(), Command: command,
		Settings: o.settings, Pings: pings, Cells: cells, Costs: costs,
	}, nil
}

// shopLocks are the locks with which the whole shop is measured.
func shopLocks() []string { return []string{"v0", "v4", "v9", "v10", "v11", "atomic"} }
