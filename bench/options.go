package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/race"
	"lockstep/bench/internal/result"
	"lockstep/internal/evolution"
)

// options holds the parsed flags.
type options struct {
	plan      race.Plan
	settings  result.Settings
	redis     string
	seed      uint64
	json      string
	svg       string
	steps     string
	markdown  string
	shopSales int // sales over HTTP with each lock of shopLocks; 0: not measured
}

// Limits of what one machine can run.
const (
	maxBuyers    = 10_000
	maxProcesses = 16
)

// parse parses the command line. It returns flag.ErrHelp if it printed the help.
func parse(args []string, table []contestants.Contestant, help io.Writer) (options, error) {
	var names []string
	for _, c := range table {
		names = append(names, c.Name)
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	contestantList := flags.String("contestants", "",
		"comma-separated `names`, of "+strings.Join(names, ",")+"; limit always runs (default: those that differ much)")
	buyers := flags.String("buyers", "1,2,16,200,1000", "comma-separated `numbers` of concurrent buyers")
	processes := flags.String("processes", "1,3", "comma-separated `numbers` of processes, among which the buyers are divided")
	delays := flags.String("delays", "1ms,0s", "comma-separated `durations` by which each round trip is delayed; 0s: no delay")
	repeat := flags.Int("repeat", 3, "number of repetitions")
	longest := flags.Duration("longest", 7500*time.Millisecond, "longest warm-up and measured window of a cell together")
	shortest := flags.Duration("shortest", 700*time.Millisecond, "shortest measured window of a cell")
	pool := flags.Int("pool", 0, "largest number of connections of a go-redis client; 0: go-redis's default, ten per core")
	rest := flags.Duration("rest", 0, "pause of a buyer after a sale; the limit has none")
	addr := flags.String("redis", "", "`host:port` of an empty Redis, which is emptied before each cell (default: bench starts one)")
	seed := flags.Uint64("seed", 0, "seed of the order of contestants; 0: random")
	o := options{}
	flags.StringVar(&o.json, "json", "", "`file` for all results as JSON")
	flags.StringVar(&o.steps, "steps", "", "`file` for the figures of each step; sets the flags that these need, unless they are given")
	flags.StringVar(&o.svg, "svg", "", "`file` for a plot")
	flags.IntVar(&o.shopSales, "whole", 0, "number of `sales` over HTTP with some locks, to measure the cost of a sale; 0: none")
	flags.StringVar(&o.markdown, "markdown", "", "`file` for the report, which is docs/benchmarks.md")

	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(help, "bench: the same sale under every lock, and under the libraries people use, on a real Redis.\n\n")
		flags.SetOutput(help)
		flags.PrintDefaults()
		return o, err
	case err != nil:
		return o, fmt.Errorf("%w; bench -help lists the flags", err)
	case flags.NArg() > 0:
		return o, fmt.Errorf("%q is not a flag; bench -help lists them", flags.Arg(0))
	}
	var errs []error
	if o.steps != "" {
		errs = append(errs, setStepFlags(flags))
	}
	selection := o.contestantNames(table)
	o.redis, o.seed = *addr, *seed
	o.settings = result.Settings{RetryMillis: 20, TTLMillis: 10_000, WaitMillis: 60_000, Pool: *pool, Repeat: *repeat,
		RestMillis: float64(rest.Microseconds()) / 1000}
	o.plan = race.Plan{Repeat: *repeat, Longest: *longest, Shortest: *shortest}
	o.plan.Buyers = parseList(&errs, "buyers", *buyers, parseCount(maxBuyers))
	o.plan.Processes = parseList(&errs, "processes", *processes, parseCount(maxProcesses))
	o.plan.AddedMillis = parseList(&errs, "delays", *delays, parseRoundTrip)
	if *contestantList != "" {
		selection = strings.Split(*contestantList, ",")
	}
	selected, err := contestants.Find(table, append(selection, "limit"))
	if err != nil {
		errs = append(errs, fmt.Errorf("-contestants: %w", err))
	}
	o.plan.Contestants = selected
	check := func(valid bool, name string, value any, want string) {
		if !valid {
			errs = append(errs, fmt.Errorf("-%s: %v is not %s", name, value, want))
		}
	}
	check(*repeat >= 1 && *repeat <= 100, "repeat", *repeat, "from 1 to 100")
	check(*pool >= 0 && *pool <= maxBuyers, "pool", *pool, fmt.Sprintf("from 0 to %d", maxBuyers))
	check(*rest >= 0 && *rest <= time.Second, "rest", *rest, "from 0s to 1s")
	check(o.shopSales >= 0 && o.shopSales <= 1_000_000, "whole", o.shopSales, "from 0 to 1000000")
	check(*shortest >= 50*time.Millisecond, "shortest", *shortest, "50ms or more")
	check(*longest >= 2**shortest && *longest <= time.Minute, "longest", *longest, "from twice -shortest to 1m")
	return o, errors.Join(errs...)
}

// contestantNames returns the contestants that the outputs need: the steps, those that differ much, or both.
func (o options) contestantNames(table []contestants.Contestant) (names []string) {
	for _, c := range table {
		if o.steps != "" && c.IsStep() || !c.OffPage && (o.steps == "" || o.markdown != "") {
			names = append(names, c.Name)
		}
	}
	return names
}

// setStepFlags sets the flags that were not given to the conditions of the figures of the steps.
func setStepFlags(flags *flag.FlagSet) (err error) {
	isSet := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { isSet[f.Name] = true })
	var buyers, processes []string
	for _, at := range evolution.Conditions() {
		buyers, processes = append(buyers, strconv.Itoa(at.Buyers)), append(processes, strconv.Itoa(at.Processes))
	}
	for name, value := range map[string]string{
		"delays": "1ms", "buyers": strings.Join(buyers, ","), "processes": strings.Join(processes, ","),
	} {
		if !isSet[name] {
			err = errors.Join(err, flags.Set(name, value))
		}
	}
	return err
}

// parseList parses comma-separated values, and drops repeated ones.
func parseList[T comparable](errs *[]error, name, text string, read func(string) (T, error)) []T {
	var values []T
	for field := range strings.SplitSeq(text, ",") {
		value, err := read(strings.TrimSpace(field))
		if err != nil {
			*errs = append(*errs, fmt.Errorf("-%s: %q: %w", name, field, err))
		} else if !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}

// parseCount returns a parser of whole numbers from 1 to most.
func parseCount(most int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > most {
			return 0, fmt.Errorf("want whole numbers from 1 to %d, separated by commas", most)
		}
		return n, nil
	}
}

// parseRoundTrip parses the duration of a round trip, and returns milliseconds.
func parseRoundTrip(text string) (float64, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > time.Second || d%time.Microsecond != 0 {
		return 0, errors.New("want durations from 0s to 1s, such as 1ms or 500us, separated by commas")
	}
	return float64(d.Microseconds()) / 1000, nil
}
