package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockstep/internal/cluster/job"
	"lockstep/internal/evolution"
	"lockstep/internal/server"
)

// newJob returns the job command.
func newJob() *cobra.Command {
	var s job.Session
	var version string
	var asJSON, replica bool
	cmd := &cobra.Command{
		Use:   "job",
		Short: "Run a scheduled job on several replicas, and report on each tick",
		Long: `job starts several replicas (--replicas) as separate processes on one Redis. At each tick every
replica makes one attempt to get the lock, and runs the job if it succeeds. At the end, job reports
on each tick.
Exit code:
  0  every tick was run exactly once, or left out while an earlier run was in progress
  1  two runs overlapped, or a tick was run twice, or missed
  2  nothing was run, or an error
Only ticks that began after all replicas had started are counted. A replica that dies is restarted.

Without redis.addrs, job embeds a Redis at redis.embedded_addr, or uses the one that answers there.
With redis.addrs and --replicas 1 it can run on several machines: Redis records the runs of all.

A lock is kept for 2/5 of a tick. If it has an expiry, it expires after 1/2 of a tick:
docs/ARCHITECTURE.md explains why.`,
		Example: "  lockstep job --every 1s --lock none --ticks 5\n  lockstep job --every 1s --lock v4",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := checkJob(cmd, s, replica); err != nil {
				return err
			}
			if version == "none" {
				version = "v0"
			}
			if s.Lock, err = evolution.Find(version); err != nil {
				return fmt.Errorf("--lock: %w; and none, which is the same as v0", suggestLock(err, version))
			}
			if s.Config, err = loadConfig(cmd); err != nil {
				return err
			}
			logs := newLogWriter(cmd.ErrOrStderr())
			defer logs.close()
			s.LogOutput, s.Log = logs, newLog(logs, s.Config.Log.Level)
			if replica {
				ctx, end := context.WithCancel(cmd.Context())
				defer end()
				cancelAtEOF(cmd.InOrStdin(), end)
				logs.release()
				s.Output = cmd.OutOrStdout()
				return s.RunReplica(ctx)
			}
			return runJob(cmd, s, logs, asJSON)
		},
	}
	flags := cmd.Flags()
	flags.DurationVar((*time.Duration)(&s.Every), "every", time.Second, "interval between ticks")
	flags.DurationVar(&s.Work, "work", 0, "duration of a run")
	flags.StringVar(&version, "lock", "v4", "lock to use: none (the same as v0), "+strings.Join(evolution.Names(), ", "))
	flags.IntVar(&s.Replicas, "replicas", 3, "number of replica processes")
	flags.IntVar(&s.Ticks, "ticks", 0, "number of ticks to run; 0: until interrupted")
	flags.BoolVar(&asJSON, "json", false, "print one JSON document to standard output, and all messages to standard error")
	completeWith(cmd, "lock", append(evolution.Names(), "none")...)
	flags.BoolVar(&replica, server.UntilStdinFlag, false, "run as one of the replicas, until standard input ends")
	hideFlag(cmd, server.UntilStdinFlag)
	return cmd
}

// checkJob returns an error for flags that are not allowed. Some settings are only for replica processes, not for users.
func checkJob(cmd *cobra.Command, s job.Session, replica bool) (err error) {
	switch every := time.Duration(s.Every); {
	case every < 100*time.Millisecond || every > 24*time.Hour:
		return fmt.Errorf("--every %v is not allowed: want from 100ms to 24h", every)
	case s.Work < 0 || s.Work > 24*time.Hour:
		return fmt.Errorf("--work %v is not allowed: want from 0s to 24h", s.Work)
	case s.Replicas < 1 || s.Replicas > 100:
		return fmt.Errorf("--replicas %d is not allowed: want from 1 to 100", s.Replicas)
	case s.Ticks < 0 || s.Ticks > job.MaxTicks:
		return fmt.Errorf("--ticks %d is not allowed: want from 0 (until interrupted) to %d", s.Ticks, job.MaxTicks)
	case replica:
		return nil
	}
	for _, name := range changedSettings(cmd) {
		if !strings.HasPrefix(name, "redis.") && !strings.HasPrefix(name, "log.") {
			err = errors.Join(err, fmt.Errorf("--%s is not allowed: job takes only --redis.… and --log.level; "+
				"--lock selects the lock, and --every its expiry", name))
		}
	}
	return err
}

// runJob runs the job on replicas until its ticks are over, and prints the tally.
func runJob(cmd *cobra.Command, s job.Session, logs *logWriter, asJSON bool) error {
	said := logs
	if !asJSON {
		said = newLogWriter(cmd.OutOrStdout())
		defer said.close()
	}
	s.Output = said
	s.Arguments = append([]string{
		"job", "--" + server.UntilStdinFlag, "--every=" + s.Every.String(), "--work=" + s.Work.String(), "--lock=" + s.Lock.Name,
	}, forwardedFlags(cmd)...)
	s.OnReady = func(firstLine string) {
		printLines(said.to, firstLine)
		said.release()
		logs.release()
	}
	tally, err := s.Run(cmd.Context())
	if err != nil {
		return err
	}
	said.close() // The result must come after all that the replicas printed.
	if asJSON {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(tally)
	} else {
		err = tally.Print(cmd.OutOrStdout())
	}
	return exitWith(err, tally.Verdict.ExitCode())
}
