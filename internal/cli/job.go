package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockstep/internal/dao"
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/shop/cluster"
	"lockstep/internal/shop/config"
	"lockstep/internal/shop/job"
)

// jobName is the job's, and so the key of its lock.
const jobName = "job"

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
		Short: "Run a scheduled job on several replicas, and tell what became of each tick",
		Long: `job starts that many replicas as processes of their own, on one Redis. At every tick each of them
makes one attempt to get the lock, and runs the job if it succeeds. In the end job tells what
became of each tick.
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			strategy, err := f.check(cmd)
			if err != nil {
				return err
			}
			cfg, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			if f.replica {
				return runJobReplica(cmd, cfg, f, strategy)
			}
			return runJob(cmd, cfg, f, strategy)
		},
	}
	flags := cmd.Flags()
	flags.DurationVar(&f.every, "every", time.Second, "length of a tick")
	flags.DurationVar(&f.work, "work", 0, "how long a run takes")
	flags.StringVar(&f.version, "lock", "v4", "the lock: none (the same as v0), "+strings.Join(evolution.Names(), ", "))
	flags.IntVar(&f.replicas, "replicas", 3, "how many processes")
	flags.IntVar(&f.ticks, "ticks", 0, "end after so many ticks; 0: when interrupted")
	flags.BoolVar(&f.asJSON, "json", false, "one JSON document on standard output, and everything for people on standard error")
	completeWith(cmd, "lock", append(evolution.Names(), "none")...)
	flags.BoolVar(&f.replica, untilStdinFlag, false, "be one of the replicas, until standard input ends")
	if err := flags.MarkHidden(untilStdinFlag); err != nil {
		panic(err) // there is no such flag
	}
	return cmd
}

// check looks at the flags, and gives the lock.
func (f jobFlags) check(cmd *cobra.Command) (strategy.Strategy, error) {
	switch {
	case f.every < 100*time.Millisecond || f.every > 24*time.Hour:
		return strategy.Strategy{}, fmt.Errorf("--every %v is not allowed: want from 100ms to 24h", f.every)
	case f.work < 0 || f.work > 24*time.Hour:
		return strategy.Strategy{}, fmt.Errorf("--work %v is not allowed: want from 0s to 24h", f.work)
	case f.replicas < 1 || f.replicas > 100:
		return strategy.Strategy{}, fmt.Errorf("--replicas %d is not allowed: want from 1 to 100", f.replicas)
	case f.ticks < 0 || f.ticks > job.MaxTicks:
		return strategy.Strategy{}, fmt.Errorf("--ticks %d is not allowed: want from 0 (until interrupted) to %d", f.ticks, job.MaxTicks)
	}
	var refused error
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		group, _, isKey := strings.Cut(flag.Name, ".")
		if isKey && group != "redis" && group != "log" && !f.replica {
			refused = errors.Join(refused, fmt.Errorf("--%s is not allowed: a job heeds --redis.… and --log.level; "+
				"its lock comes from --lock, and what the lock is told from --every", flag.Name))
		}
	})
	if refused != nil {
		return strategy.Strategy{}, refused
	}
	if f.version == "none" {
		f.version = "v0"
	}
	strategy, err := findLock(f.version)
	if err != nil {
		err = fmt.Errorf("--lock: %w; and none, the same as v0", err)
	}
	return strategy, err
}

// runJob starts the replicas, lets them run, and counts.
func runJob(cmd *cobra.Command, cfg config.Config, f jobFlags, strategy strategy.Strategy) error {
	ctx := cmd.Context()
	logged := &heldWriter{to: cmd.ErrOrStderr()}
	defer logged.release()
	said := logged
	if !f.asJSON {
		said = &heldWriter{to: cmd.OutOrStdout()}
		defer said.release()
	}
	redis, err := openJobRedis(ctx, cfg.Redis)
	if err != nil {
		return err
	}
	if err := strategy.Fits(len(redis.Nodes)); err != nil {
		return errors.Join(err, redis.Close())
	}
	replicas, err := startJobReplicas(cmd, cfg, f, redis, said, logged)
	if err != nil {
		return errors.Join(err, redis.Close())
	}
	every := job.Every(f.every)
	record := &job.Runs{Client: redis.Store, Name: jobName, Every: every, Events: job.MaxEvents}
	first := time.Now().Truncate(f.every).Add(f.every) // all replicas are up by then
	fmt.Fprintf(said.to, "lockstep: a job every %v · %d replicas · lock %s (%s) · %s · counting from tick %s\n",
		f.every, f.replicas, strategy.Name, strategy.Title.In(language.English), redis.Name, clockTime(first, f.every))
	said.release()
	logged.release()

	last := waitForTicks(ctx, every, first, f.ticks)
	replicas.Stop()
	count, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer cancel()
	runs, complete, err := record.All(count)
	if err := errors.Join(err, redis.Close()); err != nil {
		return fmt.Errorf("counting the runs: %w", err)
	}
	if !complete && len(runs) > 0 && runs[0].Tick.After(first) {
		first = runs[0].Tick.Add(f.every) // earlier runs are forgotten
	}
	result := newJobResult(f, strategy.Name, job.NewTally(runs, every, f.work, first, last))
	if err := result.print(cmd.OutOrStdout(), f.asJSON); err != nil {
		return err
	}
	if code := result.Verdict.ExitCode(); code != exitOK {
		return exitCode(code)
	}
	return nil
}

// openJobRedis opens the configured Redis; if none is configured, an embedded one, or the one that listens at its address already.
func openJobRedis(ctx context.Context, cfg config.Redis) (*dao.Redis, error) {
	redis, err := dao.Open(ctx, dao.Config(cfg))
	if err == nil || len(cfg.Addrs) > 0 {
		return redis, err
	}
	cfg.Addrs = []string{cfg.EmbeddedAddr}
	if there, thereErr := dao.Open(ctx, dao.Config(cfg)); thereErr == nil {
		return there, nil
	}
	return nil, err
}

// startJobReplicas starts this very program as replicas of the job; they print on said what they run.
func startJobReplicas(
	cmd *cobra.Command, cfg config.Config, f jobFlags, redis *dao.Redis, said, logged io.Writer,
) (*cluster.Cluster, error) {
	replica, err := replicaCommand(cmd, cfg, redis, []string{
		"job", "--every=" + f.every.String(), "--work=" + f.work.String(), "--lock=" + f.version,
	}, said, logged)
	if err != nil {
		return nil, err
	}
	return cluster.Start(cmd.Context(), f.replicas, replica, 4*leaveTime, newLog(logged, cfg.Log.Level))
}

// waitForTicks waits until n ticks are over, from the first on, or until ctx ends. It gives the last tick that is over.
func waitForTicks(ctx context.Context, every job.Every, first time.Time, n int) (last time.Time) {
	wait, stop := ctx, func() {}
	if n > 0 {
		last = first.Add(time.Duration(n-1) * time.Duration(every))
		wait, stop = lock.WithTimeout(ctx, lock.SystemClock{}, time.Until(last.Add(every.Over())), lock.ErrTimeout)
	}
	defer stop()
	<-wait.Done()
	if n > 0 && ctx.Err() == nil {
		return last
	}
	return time.Now().Add(-every.Over()).Truncate(time.Duration(every))
}
