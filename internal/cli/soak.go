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

// soakFlags are what soak is told.
type soakFlags struct {
	lock     string
	minutes  float64
	replicas int
	buyers   int
	seed     uint64
	faults   string
	redis    string
	html     string
	asJSON   bool
}

func newSoak() *cobra.Command {
	var f soakFlags
	cmd := &cobra.Command{
		Use:   "soak",
		Short: "Sell at full speed under real faults, one after the other, and judge every answer",
		Long: `soak starts a Redis of its own, which writes every command to disk (appendfsync always),
and replicas as processes, each behind a proxy to Redis. Buyers buy at full speed. Meanwhile it
injects real faults: it kills, stops and restarts replicas and Redis, cuts, stalls and delays what
passes between them, loses commands and replies, takes the lock away, lets buyers go away. The
seed decides their order; the same seed repeats them.

At the end it compares what every buyer was told with the ledger and the stock: each sale answered
200 has its order; no order was made without a 200 or an answer that leaves it open; updates are
lost as predicted for the lock (none from v7 on); the stock fits into one order (linearizable),
which is that of the fencing tokens; sales came back after each fault.

Exit code: 0 PASS, or AS PREDICTED: a lock before v7 lost updates, only by faults that it cannot
stand; 1 FAIL; 2 UNKNOWN, as there was too little load, or a fault that hit nobody, or trouble. That
history.html cannot be written is said after the verdict; it is trouble if --html asked for it.`,
		Example:     "  lockstep soak --lock v10 --minutes 10 --replicas 3\n  lockstep soak --lock v4 --minutes 2 --seed 7",
		Args:        cobra.NoArgs,
		Annotations: map[string]string{noSettings: "it has its own"},
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
	flags.StringVar(&f.lock, "lock", "v10", "the lock: one of "+strings.Join(soak.Locks(), ", "))
	flags.Float64Var(&f.minutes, "minutes", 10, "how long")
	flags.IntVar(&f.replicas, "replicas", 3, "how many processes sell")
	flags.IntVarP(&f.buyers, "buyers", "c", 50, "how many buy at once")
	flags.Uint64Var(&f.seed, "seed", 0, "of the faults (default: a new one)")
	flags.StringVar(&f.faults, "faults", "", "only these faults, with commas between them: "+kindNames())
	flags.StringVar(&f.redis, "redis", "", "the program to start as Redis (default: redis-server or valkey-server)")
	flags.StringVar(&f.html, "html", "history.html", "the picture: a part of the history, for a browser; empty: none")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON document to standard output")
	completeWith(cmd, "lock", soak.Locks()...)
	return cmd
}

func kindNames() string {
	var names []string
	for _, kind := range soak.Kinds() {
		names = append(names, string(kind))
	}
	return strings.Join(names, ", ")
}

func (f soakFlags) check() error {
	if err := soak.CheckLock(f.lock); err != nil {
		return suggest(err, f.lock, soak.Locks())
	}
	switch {
	case !(f.minutes > 0 && f.minutes <= 24*60): // nor NaN
		return fmt.Errorf("--minutes %v is not allowed: want more than 0, up to a day", f.minutes)
	case f.replicas < 2 || f.replicas > 20:
		return fmt.Errorf("--replicas %d is not allowed: want from 2 to 20, so that others can sell when one cannot", f.replicas)
	case f.buyers < 1 || f.buyers > 10_000:
		return fmt.Errorf("-c %d is not allowed: want from 1 to 10000 buyers", f.buyers)
	}
	return load.CheckFiles(f.buyers, true)
}

// command returns the command that repeats a soak, as it was typed but for the seed.
func (f soakFlags) command(cmd *cobra.Command) string {
	text := fmt.Sprintf("%s --lock %s --minutes %v --replicas %d --seed %d", cmd.CommandPath(), f.lock, f.minutes, f.replicas, f.seed)
	for _, name := range []string{"faults", "redis", "buyers"} {
		if flag := cmd.Flags().Lookup(name); flag.Changed {
			text += fmt.Sprintf(" --%s %s", name, flag.Value)
		}
	}
	return text
}

func runSoak(cmd *cobra.Command, f soakFlags) error {
	kinds, err := soak.ParseKinds(f.faults)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	people := people(cmd, f.asJSON)
	file, unwritable := web.OpenFile(f.html) // before minutes of work, not after
	if unwritable != nil && cmd.Flags().Changed("html") {
		return unwritable
	}
	result, err := f.soak(cmd, people, program, kinds)
	if err != nil {
		return errors.Join(fmt.Errorf("soak: %w", err), file.Close())
	}
	return f.tell(cmd, people, result, file, unwritable)
}

// tell draws the picture and prints the verdict, and then what could not be written. That is trouble if it was asked for, as with every
// command.
func (f soakFlags) tell(cmd *cobra.Command, people io.Writer, result soak.Result, file *web.File, unwritable error) error {
	result.Again = f.command(cmd)
	if unwritable == nil {
		unwritable = errors.Join(drawHistory(result, file), file.Close())
	}
	if unwritable == nil {
		result.Picture = f.html
	}
	fmt.Fprint(people, result.Page())
	var told error
	if f.asJSON {
		told = web.WriteJSON(cmd.OutOrStdout(), result)
	}
	switch {
	case unwritable == nil:
	case cmd.Flags().Changed("html"):
		return unwritable
	default:
		fmt.Fprintln(cmd.ErrOrStderr(), "soak:", unwritable)
	}
	return exitWith(told, result.Verdict.ExitCode())
}

// soak runs the soak, and judges it.
func (f soakFlags) soak(cmd *cobra.Command, people io.Writer, program string, kinds []soak.Kind) (soak.Result, error) {
	plan := soak.NewPlan(f.seed, time.Duration(f.minutes*float64(time.Minute)), kinds, f.replicas)
	fmt.Fprintf(people, "soak: %s, %d replicas, %d buyers, %d faults, seed %d, Redis with appendfsync always\n",
		f.lock, f.replicas, f.buyers, len(plan), f.seed)
	record, err := soak.Session{
		Program: program, Redis: f.redis, Lock: f.lock, Replicas: f.replicas, Buyers: f.buyers, Plan: plan,
		Log: func(format string, args ...any) { fmt.Fprintf(people, format+"\n", args...) },
	}.Run(cmd.Context())
	if err != nil {
		return soak.Result{}, err
	}
	result := soak.Examine(record)
	if result.Verdict == verdict.Fail && record.Said != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "soak: the replicas said, at last:\n%s", record.Said)
	}
	return result, nil
}

// drawHistory writes the picture into a file, if there is one.
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
