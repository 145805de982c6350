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

func newJob() *cobra.Command {
	var s job.Session
	var version string
	var asJSON, replica bool
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
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := checkJob(cmd, s, replica); err != nil {
				return err
			}
			if version == "none" {
				version = "v0"
			}
			if s.Lock, err = evolution.Find(version); err != nil {
				return fmt.Errorf("--lock: %w; and none, the same as v0", meantLock(err, version))
			}
			if s.Config, err = loadConfig(cmd); err != nil {
				return err
			}
			logged := newLogWriter(cmd.ErrOrStderr())
			defer logged.close()
			s.Logged, s.Log = logged, newLog(logged, s.Config.Log.Level)
			if replica {
				ctx, end := context.WithCancel(cmd.Context())
				defer end()
				endWithStdin(cmd.InOrStdin(), end)
				logged.release()
				s.Said = cmd.OutOrStdout()
				return s.RunReplica(ctx)
			}
			return runJob(cmd, s, logged, asJSON)
		},
	}
	flags := cmd.Flags()
	flags.DurationVar((*time.Duration)(&s.Every), "every", time.Second, "length of a tick")
	flags.DurationVar(&s.Work, "work", 0, "how long a run takes")
	flags.StringVar(&version, "lock", "v4", "the lock: none (the same as v0), "+strings.Join(evolution.Names(), ", "))
	flags.IntVar(&s.Replicas, "replicas", 3, "how many processes")
	flags.IntVar(&s.Ticks, "ticks", 0, "end after so many ticks; 0: when interrupted")
	flags.BoolVar(&asJSON, "json", false, "one JSON document on standard output, and everything for people on standard error")
	completeWith(cmd, "lock", append(evolution.Names(), "none")...)
	flags.BoolVar(&replica, server.UntilStdinFlag, false, "be one of the replicas, until standard input ends")
	hide(cmd, server.UntilStdinFlag)
	return cmd
}

// checkJob says what is wrong with the flags. A replica is given some that a user may not give.
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
	for _, name := range settingsGiven(cmd) {
		if !strings.HasPrefix(name, "redis.") && !strings.HasPrefix(name, "log.") {
			err = errors.Join(err, fmt.Errorf("--%s is not allowed: a job heeds --redis.… and --log.level; "+
				"its lock comes from --lock, and what the lock is told from --every", name))
		}
	}
	return err
}

// runJob lets replicas run the job, and tells what became of the ticks.
func runJob(cmd *cobra.Command, s job.Session, logged *logWriter, asJSON bool) error {
	said := logged
	if !asJSON {
		said = newLogWriter(cmd.OutOrStdout())
		defer said.close()
	}
	s.Said = said
	s.Arguments = append([]string{
		"job", "--" + server.UntilStdinFlag, "--every=" + s.Every.String(), "--work=" + s.Work.String(), "--lock=" + s.Lock.Name,
	}, given(cmd)...)
	s.Ready = func(firstLine string) {
		tell(said.to, firstLine)
		said.release()
		logged.release()
	}
	tally, err := s.Run(cmd.Context())
	if err != nil {
		return err
	}
	said.close() // the result comes after it
	if asJSON {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(tally)
	} else {
		err = tally.Print(cmd.OutOrStdout())
	}
	return exitWith(err, tally.Verdict.ExitCode())
}
