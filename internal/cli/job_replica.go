package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"lockstep/internal/dao"
	"lockstep/internal/lock"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/shop/config"
	"lockstep/internal/shop/job"
)

// runJobReplica runs the job as one of its replicas, until standard input ends.
func runJobReplica(cmd *cobra.Command, cfg config.Config, f jobFlags, row strategy.Strategy) error {
	ctx, end := context.WithCancel(cmd.Context())
	defer end()
	endWithStdin(cmd.InOrStdin(), end)
	redis, err := dao.Open(ctx, dao.Config(cfg.Redis))
	if err != nil {
		return err
	}
	replica, stdout := cfg.Server.Replica, cmd.OutOrStdout()
	log := newLog(cmd.ErrOrStderr(), cfg.Log.Level).With("replica", replica)
	trouble := func(err error) { log.Error("the job", "error", err) }
	clock, every := lock.SystemClock{}, job.Every(f.every)
	parts := strategy.Parts{
		Options: lock.Options{
			TTL: every.Expiry(), RetryInterval: cfg.Lock.RetryInterval, WaitTimeout: cfg.Lock.WaitTimeout,
			Clock: lock.SystemClock{Ahead: cfg.Server.ClockOffset},
		},
		Client: redis.Lock, Nodes: redis.Nodes.Clients(), Process: uuid.NewString(), HandOffLimit: cfg.Lock.HandOffLimit,
		Notifier: redis.Notifier, Rand: rand.Int64N,
	}
	newLock := func(key string) lock.Locker {
		parts := parts
		parts.Key = key
		return row.New(parts)
	}
	stop, err := (&job.Job{
		Name: jobName, Every: every, Work: f.work, Clock: clock,
		Locker: job.NewLocker(every, clock, uuid.NewString, newLock, trouble),
		Runs:   &job.Runs{Client: redis.Store, Name: jobName, Every: every, Events: job.MaxEvents, Replica: replica},
		Ran: func(tick time.Time) {
			fmt.Fprintf(stdout, "tick %s · replica %s (pid %d) ran it\n", clockTime(tick, f.every), replica, os.Getpid())
		},
		Trouble: trouble,
	}).Start()
	if err != nil {
		return errors.Join(err, redis.Close())
	}
	fmt.Fprintf(stdout, "lockstep: replica %s of a job every %v · lock %s · %s\n", replica, f.every, row.Name, redis.Name)
	<-ctx.Done()
	leave, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	return errors.Join(stop(leave), redis.Close())
}

// clockTime is a tick for people: the time of day, as exact as the ticks are.
func clockTime(tick time.Time, every time.Duration) string {
	if every%time.Second == 0 {
		return tick.Local().Format(time.TimeOnly)
	}
	return tick.Local().Format(time.TimeOnly + ".000")
}
