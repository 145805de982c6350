package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"lockstep/internal/cluster"
	"lockstep/internal/config"
	"lockstep/internal/dao"
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// leaveTime bounds each step of a shutdown that talks to Redis.
const leaveTime = 5 * time.Second

// shutdownSteps is the number of such steps of a replica: the end of a run is recorded, its lock is released, the lock is closed, and the
// connections to Redis are closed.
const shutdownSteps = 4

// Session is a job that several replicas run, as processes of this program.
type Session struct {
	Config config.Config
	Every  TickLength
	Work   time.Duration // length of a run
	Lock   strategy.Strategy
	Output io.Writer // standard output of the replicas: a line for each run
	Log    *slog.Logger

	// Only Run uses the following fields.
	Replicas  int                    // number of replicas
	Ticks     int                    // number of ticks to run; 0: until interrupted
	Arguments []string               // arguments of a replica, beginning with the subcommand
	LogOutput io.Writer              // standard error of the replicas
	OnReady   func(firstLine string) // called once the replicas have started
}

// Run starts the replicas, lets them run until enough ticks are over or ctx ends, and counts the runs of the ticks that all of them could
// have run.
func (s Session) Run(ctx context.Context) (tally Tally, err error) {
	redis, err := openRedis(ctx, s.Config.Redis)
	if err != nil {
		return tally, err
	}
	defer func() { err = errors.Join(err, redis.Close()) }()
	if s.Lock.Update == strategy.Segmented {
		return tally, errors.New("segmented divides a stock, and a job has none: use v11, the lock of each segment")
	}
	if err := redis.CheckStrategy(ctx, s.Lock, jobName, rights()); err != nil {
		return tally, err
	}
	replica, err := cluster.Command(s.Config, redis.Addr, redis.Nodes.Addrs(), nil, s.Arguments, s.Output, s.LogOutput)
	if err != nil {
		return tally, err
	}
	replicas, err := cluster.Start(ctx, s.Replicas, replica, shutdownSteps*leaveTime, s.Log)
	if err != nil {
		return tally, err
	}
	first := s.Every.AddTicks(time.Now().Truncate(time.Duration(s.Every)), 1) // All replicas are up by then.
	s.OnReady(fmt.Sprintf("lockstep: a job every %v · %d replicas · lock %s (%s) · %s · counting from tick %s",
		s.Every, s.Replicas, s.Lock.Name, s.Lock.Title.In(language.English), redis.Name, s.Every.clock(first)))
	last := s.wait(ctx, first)
	replicas.Stop()

	count, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer cancel()
	runs, err := Record{redis.Store, s.Every}.Runs(count)
	if err != nil {
		return tally, fmt.Errorf("counting the runs: %w", err)
	}
	tally = NewTally(runs, s.Every, s.Work, first, last)
	tally.Lock, tally.Replicas = s.Lock.Name, s.Replicas
	return tally, nil
}

// wait waits until s.Ticks ticks have ended, beginning with first, or until ctx ends. It returns the last tick that has ended.
func (s Session) wait(ctx context.Context, first time.Time) (last time.Time) {
	if s.Ticks > 0 {
		last = s.Every.AddTicks(first, s.Ticks-1)
		if lock.Sleep(ctx, lock.SystemClock{}, time.Until(last.Add(s.Every.RunWindow()))) == nil {
			return last
		}
	}
	<-ctx.Done()
	return time.Now().Add(-s.Every.RunWindow()).Truncate(time.Duration(s.Every))
}

// openRedis opens the configured Redis. If none is configured, it starts an embedded one, or uses what listens at its address already.
func openRedis(ctx context.Context, cfg dao.Config) (*dao.Redis, error) {
	redis, err := dao.Open(ctx, cfg)
	if err == nil || len(cfg.Addrs) > 0 {
		return redis, err
	}
	cfg.Addrs = []string{cfg.EmbeddedAddr}
	if running, openErr := dao.Open(ctx, cfg); openErr == nil {
		return running, nil
	}
	return nil, err
}

// RunReplica runs the job as one of the replicas, until ctx ends.
func (s Session) RunReplica(ctx context.Context) error {
	redis, err := dao.Open(ctx, s.Config.Redis)
	if err != nil {
		return err
	}
	name := s.Config.Server.Replica
	replica := Replica{
		Name: name, Every: s.Every, Work: s.Work, Record: Record{redis.Store, s.Every}, Output: s.Output, Log: s.Log.With("replica", name),
		Locker: s.Lock.New(strategy.Parts{
			Options: lock.Options{
				Key: jobName, TTL: s.Every.Expiry(), RetryInterval: s.Config.Settings.RetryInterval,
				Clock: lock.SystemClock{Ahead: s.Config.Server.ClockOffset}, Process: uuid.NewString(), Notifier: redis.Notifier, Rand: rand.Int64N,
			},
			Client: redis.Lock, CompareAndDelete: redis.Servers.CompareAndDelete, Nodes: redis.Nodes.Clients(),
		}),
	}
	return errors.Join(replica.Run(ctx), redis.Close())
}
