package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockstep/internal/cli/server"
	"lockstep/internal/cluster/job"
	"lockstep/internal/evolution"
)

// jobFlags are the flags of the command job.
type jobFlags struct {
	every    time.Duration
	work     time.Duration
	version  string
	replicas int
	ticks    int
	asJSON   bool
	replica  bool // run one, rather than start several
}

func newJob() *cobra.Command {
	var f jobFlags
	cmd := &cobra.Command{
		Use:   "job",
		Short: "Run a scheduled job on several replicas, and report each tick",
		Long: `job starts that many replicas as processes of their own, on one Redis. At every tick each of them
makes one attempt to get the lock, and runs the job if it succeeds. In the end job reports
each tick.
Exit code:
  0  every tick was run exactly once, or left out while a run was going on
  1  two runs overlapped, or a tick was run twice, or missed
  2  nothing was run, or trouble
Only ticks count that began when all replicas had been started. A replica that dies is started
again.

Without redis.addrs it embeds a Redis at redis.embedded_addr, or takes the one that answers there.
With them, and --replicas 1, it can be run on several machines: the Redis knows the runs of all.

A lock is kept for 2/5 of the tick, and expires after 1/2 of it, where it does expire:
docs/ARCHITECTURE.md says why.`,
		Example: "  lockstep job --every 1s --lock none --ticks 5\n  lockstep job --every 1s --lock v4",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runJob(cmd, f) },
	}
	flags := cmd.Flags()
	flags.DurationVar(&f.every, "every", time.Second, "length of a tick")
	flags.DurationVar(&f.work, "work", 0, "how long a run takes")
	flags.StringVar(&f.version, "lock", "v4", "the lock: none (the same as v0), "+strings.Join(evolution.Names(), ", "))
	flags.IntVar(&f.replicas, "replicas", 3, "how many processes")
	flags.IntVar(&f.ticks, "ticks", 0, "end after so many ticks; 0: when interrupted")
	flags.BoolVar(&f.asJSON, "json", false, "one JSON document on standard output, and everything for people on standard error")
	completeWith(cmd, "lock", append(evolution.Names(), "none")...)
	flags.BoolVar(&f.replica, server.UntilStdinFlag, false, "be one of the replicas, until standard input ends")
	hide(cmd, server.UntilStdinFlag)
	return cmd
}

// check says what is wrong with the flags.
func (f jobFlags) check(cmd *cobra.Command) (err error) {
	switch {
	case f.every < 100*time.Millisecond || f.every > 24*time.Hour:
		return fmt.Errorf("--every %v is not allowed: want from 100ms to 24h", f.every)
	case f.work < 0 || f.work > 24*time.Hour:
		return fmt.Errorf("--work %v is not allowed: want from 0s to 24h", f.work)
	case f.replicas < 1 || f.replicas > 100:
		return fmt.Errorf("--replicas %d is not allowed: want from 1 to 100", f.replicas)
	case f.ticks < 0 || f.ticks > job.MaxTicks:
		return fmt.Errorf("--ticks %d is not allowed: want from 0 (until interrupted) to %d", f.ticks, job.MaxTicks)
	case f.replica:
		return nil
	}
	for _, name := range settingsGiven(cmd) {
		if !strings.HasPrefix(name, "redis.") && !strings.HasPrefix(name, "log.") {
			err = errors.Join(err, fmt.Errorf("--%s is not allowed: a job heeds --redis.… and --log.level; "+
				"its lock comes from --lock, and what the lock is told from --every", name))
		}
	}
	return err
}

// runJob lets replicas run the job and tells the result, or is one of them.
func runJob(cmd *cobra.Command, f jobFlags) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	if f.version == "none" {
		f.version = "v0"
	}
	strategy, err := evolution.Find(f.version)
	if err != nil {
		return fmt.Errorf("--lock: %w; and none, the same as v0", meantLock(err, f.version))
	}
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	logged := newLogWriter(cmd.ErrOrStderr())
	defer logged.close()
	if f.replica {
		ctx, end := context.WithCancel(cmd.Context())
		defer end()
		endWithStdin(cmd.InOrStdin(), end)
		logged.release()
		return job.Replica{
			Config: cfg, Every: f.every, Work: f.work, Lock: strategy, Said: cmd.OutOrStdout(), Log: newLog(logged, cfg.Log.Level),
		}.Run(ctx)
	}
	said := logged
	if !f.asJSON {
		said = newLogWriter(cmd.OutOrStdout())
		defer said.close()
	}
	result, err := job.Session{
		Config: cfg, Every: f.every, Work: f.work, Lock: strategy, Replicas: f.replicas, Ticks: f.ticks, Given: given(cmd),
		Arguments: []string{
			"job", "--" + server.UntilStdinFlag, "--every=" + f.every.String(), "--work=" + f.work.String(), "--lock=" + f.version,
		},
		Said: said, Logged: logged, Log: newLog(logged, cfg.Log.Level),
		Ready: func(firstLine string) {
			tell(said.to, firstLine)
			said.release()
			logged.release()
		},
	}.Run(cmd.Context())
	if err != nil {
		return err
	}
	said.close() // the result comes after it
	if f.asJSON {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(result)
	} else {
		err = result.Print(cmd.OutOrStdout())
	}
	return exitWith(err, result.Verdict.ExitCode())
}
