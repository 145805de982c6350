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
	"lockstep/bench/internal/whole"
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
	outputs, err := options.outputs()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	measured, err := measure(ctx, options, strings.Join(args, " "), stderr)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "interrupted: nothing is written")
		return 2
	case err == nil:
		err = report.Text(stdout, measured, table)
	}
	for _, output := range outputs {
		if err == nil {
			err = output.put(measured, table)
		}
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	if wrong := measured.Wrong(); len(wrong) > 0 {
		for _, c := range wrong {
			fmt.Fprintf(stderr, "%s: +%g ms, %d processes, %d buyers: %s: %s\n",
				c.Contestant, c.AddedMillis, c.Processes, c.Buyers, c.Status, c.Note)
		}
		return 1
	}
	return 0
}

// measure runs the whole plan.
func measure(ctx context.Context, o options, command string, stderr io.Writer) (measured result.Run, err error) {
	program, err := os.Executable()
	if err != nil {
		return measured, fmt.Errorf("where this program is: %w", err)
	}
	testbed, err := race.Open(ctx, o.redis, o.settings, program, worker.Argument)
	if err != nil {
		return measured, err
	}
	defer func() { err = errors.Join(err, testbed.Close()) }()
	there, err := testbed.Servers(ctx)
	if err != nil {
		return measured, err
	}
	say := func(line string) { fmt.Fprintln(stderr, line) }
	o.plan.Contestants = slices.DeleteFunc(o.plan.Contestants, func(c contestants.Contestant) bool {
		err := c.Fits(there)
		if err != nil {
			say("left out: " + err.Error())
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
		Say: say,
	}
	cells, pings, err := session.Run(ctx)
	if err != nil {
		return measured, err
	}
	var costs []result.Cost
	if o.whole > 0 {
		if costs, err = whole.Measure(ctx, wholeLocks(), o.whole); err != nil {
			return measured, err
		}
		for _, cost := range costs {
			say(fmt.Sprintf("a sale with %s: %.0f µs of the server's processor, %.0f µs of Redis's, %.1f commands",
				cost.Lock, cost.Server, cost.Redis, cost.Calls))
		}
	}
	return result.Run{
		Machine: report.ThisMachine(there.Redis), Began: began, Seconds: time.Since(began).Seconds(), Command: command,
		Settings: o.settings, Pings: pings, Cells: cells, Costs: costs,
	}, nil
}

// wholeLocks are the locks with which the whole shop is measured.
func wholeLocks() []string { return []string{"v0", "v4", "v9", "v10", "v11", "atomic"} }
