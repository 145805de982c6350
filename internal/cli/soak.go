package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockstep/internal/load"
	"lockstep/internal/soak"
	"lockstep/internal/verdict"
	"lockstep/internal/web"
)

// soakFlags holds the parsed flags of soak.
type soakFlags struct {
	lock     string  // name of the lock to test
	minutes  float64 // duration in minutes
	replicas int     // number of replica processes
	buyers   int     // number of concurrent buyers
	seed     uint64  // seed of the fault plan
	faults   string  // names of the faults to inject, separated by commas; empty: the default ones
	redis    string  // Redis server program; empty: the first that is found
	html     string  // file for the page of the history; empty: no page
	asJSON   bool
}

// newSoak returns the soak command.
func newSoak() *cobra.Command {
	var f soakFlags
	cmd := &cobra.Command{
		Use:   "soak",
		Short: "Sell at full speed under real faults, and check every answer",
		Long: `soak starts its own Redis, which writes every command to disk (appendfsync always), and replicas as
processes, each behind a proxy to Redis. Buyers buy at full speed. Meanwhile soak injects real
faults, one after the other: it kills, stops and restarts replicas and Redis; cuts, stalls and
delays the connections between them; drops commands and replies; deletes the lock; and makes buyers
disconnect. The seed determines the order of the faults; the same seed repeats it.

At the end it compares every buyer's answer with the ledger and the stock: each sale answered with
200 has its order; no order exists without a 200 or an answer that leaves the outcome open; updates
are lost only as predicted for the lock (none from v7 on); the history of the stock is linearizable,
in the order of the fencing tokens; and sales resumed after each fault.

Exit code: 0 PASS, or AS PREDICTED (a lock before v7 lost updates, but only through faults that it
does not tolerate); 1 FAIL; 2 UNKNOWN, because of too little load or a fault that hit nobody, or an
error. If history.html cannot be written, soak says so after the verdict; that is an error only if
--html was given.`,
		Example:     "  lockstep soak --lock v10 --minutes 10 --replicas 3\n  lockstep soak --lock v4 --minutes 2 --seed 7",
		Args:        cobra.NoArgs,
		Annotations: map[string]string{noSettings: "it has its own settings"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if !cmd.Flags().Changed("seed") {
				f.seed = rand.Uint64N(1_000_000)
			}
			return runSoak(cmd, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.lock, "lock", "v10", "lock to test: one of "+strings.Join(soak.Locks(), ", "))
	flags.Float64Var(&f.minutes, "minutes", 10, "duration in minutes")
	flags.IntVar(&f.replicas, "replicas", 3, "number of replica processes")
	flags.IntVarP(&f.buyers, "buyers", "c", 50, "number of concurrent buyers")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the fault plan (default: random)")
	flags.StringVar(&f.faults, "faults", "",
		"comma-separated list of the faults to inject (default: all but those that must be named): "+faultKindNames())
	flags.StringVar(&f.redis, "redis", "", "Redis server program to start (default: redis-server or valkey-server)")
	flags.StringVar(&f.html, "html", "history.html", "file for a page that draws a part of the history; empty: no page")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON document to standard output")
	completeWith(cmd, "lock", soak.Locks()...)
	return cmd
}

// faultKindNames returns the names of the faults, separated by commas.
func faultKindNames() string {
	var names []string
	for _, kind := range soak.Kinds() {
		names = append(names, string(kind))
	}
	return strings.Join(names, ", ")
}

// check returns an error for flags that are not allowed.
func (f soakFlags) check() error {
	if err := soak.CheckLock(f.lock); err != nil {
		return suggest(err, f.lock, soak.Locks())
	}
	switch {
	case !(f.minutes > 0 && f.minutes <= 24*60): // also rejects NaN
		return fmt.Errorf("--minutes %v is not allowed: want more than 0, up to a day", f.minutes)
	case f.replicas < 2 || f.replicas > 20:
		return fmt.Errorf("--replicas %d is not allowed: want from 2 to 20, so that the others can sell while one is down", f.replicas)
	case f.buyers < 1 || f.buyers > 10_000:
		return fmt.Errorf("-c %d is not allowed: want from 1 to 10000 buyers", f.buyers)
	}
	return load.CheckFileLimit(f.buyers, true)
}

// command returns the command that repeats this soak: the typed flags and its seed.
func (f soakFlags) command(cmd *cobra.Command) string {
	text := fmt.Sprintf("%s --lock %s --minutes %v --replicas %d --seed %d", cmd.CommandPath(), f.lock, f.minutes, f.replicas, f.seed)
	for _, name := range []string{"faults", "redis", "buyers"} {
		if flag := cmd.Flags().Lookup(name); flag.Changed {
			text += fmt.Sprintf(" --%s %s", name, flag.Value)
		}
	}
	return text
}

// runSoak runs the soak command.
func runSoak(cmd *cobra.Command, f soakFlags) error {
	kinds, err := soak.ParseKinds(f.faults)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	messages := messageWriter(cmd, f.asJSON)
	file, pageErr := web.OpenFile(f.html) // An unwritable file should fail before minutes of work, not after.
	if pageErr != nil && cmd.Flags().Changed("html") {
		return pageErr
	}
	result, err := f.soak(cmd, messages, program, kinds)
	if err != nil {
		return errors.Join(fmt.Errorf("soak: %w", err), file.Close())
	}
	return f.report(cmd, messages, result, file, pageErr)
}

// report writes the page of the history, and prints the verdict and then the error of the page, if there is one. pageErr is the error of
// opening the page. An error of the page decides the exit code only if --html was given.
func (f soakFlags) report(cmd *cobra.Command, messages io.Writer, result soak.Result, file *web.File, pageErr error) error {
	result.Command = f.command(cmd)
	if pageErr == nil {
		pageErr = errors.Join(drawHistory(result, file), file.Close())
	}
	if pageErr == nil {
		result.Picture = f.html
	}
	fmt.Fprint(messages, result.Text())
	var printErr error
	if f.asJSON {
		printErr = web.WriteJSON(cmd.OutOrStdout(), result)
	}
	switch {
	case pageErr == nil:
	case cmd.Flags().Changed("html"):
		return pageErr
	default:
		fmt.Fprintln(cmd.ErrOrStderr(), "soak:", pageErr)
	}
	return exitWith(printErr, result.Verdict.ExitCode())
}

// soak runs the soak and examines its record.
func (f soakFlags) soak(cmd *cobra.Command, messages io.Writer, program string, kinds []soak.Kind) (soak.Result, error) {
	plan := soak.NewPlan(f.seed, time.Duration(f.minutes*float64(time.Minute)), kinds, f.replicas)
	fmt.Fprintf(messages, "soak: %s, %d replicas, %d buyers, %d faults, seed %d, Redis with appendfsync always\n",
		f.lock, f.replicas, f.buyers, len(plan), f.seed)
	record, err := soak.Session{
		Program: program, Redis: f.redis, Lock: f.lock, Replicas: f.replicas, Buyers: f.buyers, Plan: plan,
		Log: func(format string, args ...any) { fmt.Fprintf(messages, format+"\n", args...) },
	}.Run(cmd.Context())
	if err != nil {
		return soak.Result{}, err
	}
	result := soak.Examine(record)
	if result.Verdict == verdict.Fail && record.ReplicaOutput != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "soak: last output of the replicas:\n%s", record.ReplicaOutput)
	}
	return result, nil
}

// drawHistory writes the page of the history into a file; nil: it does nothing.
func drawHistory(result soak.Result, file *web.File) error {
	if file == nil {
		return nil
	}
	var page bytes.Buffer
	if err := result.Draw(&page); err != nil {
		return err
	}
	return file.Write(page.Bytes())
}
