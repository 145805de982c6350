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

// leaveTime bounds each step of ending that talks to Redis.
const leaveTime = 5 * time.Second

// Session is a job that is run by several replicas, as processes of this very program.
type Session struct {
	Config config.Config
	Every  Every
	Work   time.Duration // how long a run takes
	Lock   strategy.Strategy
	Said   io.Writer // what the replicas say that they run
	Log    *slog.Logger

	// Of Run alone.
	Replicas  int
	Ticks     int      // 0: until interrupted
	Arguments []string // those of a replica, the name of the subcommand first
	Logged    io.Writer
	Ready     func(firstLine string) // is told once the replicas have been started
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
		return tally, errors.New("segmented divides a stock, and a job has none: take v11, which each segment has")
	}
	if err := redis.Fits(ctx, s.Lock, jobName, rights()); err != nil {
		return tally, err
	}
	replica, err := cluster.Command(s.Config, redis.Addr, redis.Nodes.Addrs(), nil, s.Arguments, s.Said, s.Logged)
	if err != nil {
		return tally, err
	}
	replicas, err := cluster.Start(ctx, s.Replicas, replica, 4*leaveTime, s.Log)
	if err != nil {
		return tally, err
	}
	first := s.Every.After(time.Now().Truncate(time.Duration(s.Every)), 1) // all replicas are up by then
	s.Ready(fmt.Sprintf("lockstep: a job every %v · %d replicas · lock %s (%s) · %s · counting from tick %s",
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

// wait waits until the ticks are over, from the first on, or until ctx ends. It returns the last tick that is over.
func (s Session) wait(ctx context.Context, first time.Time) (last time.Time) {
	if s.Ticks > 0 {
		last = s.Every.After(first, s.Ticks-1)
		if lock.Sleep(ctx, lock.SystemClock{}, time.Until(last.Add(s.Every.Over()))) == nil {
			return last
		}
	}
	<-ctx.Done()
	return time.Now().Add(-s.Every.Over()).Truncate(time.Duration(s.Every))
}

// openRedis opens the configured Redis; if none is configured, an embedded one, or the one that listens at its address already.
func openRedis(ctx context.Context, cfg dao.Config) (*dao.Redis, error) {
	redis, err := dao.Open(ctx, cfg)
	if err == nil || len(cfg.Addrs) > 0 {
		return redis, err
	}
	cfg.Addrs = []string{cfg.EmbeddedAddr}
	if there, thereErr := dao.Open(ctx, cfg); thereErr == nil {
		return there, nil
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
		Name: name, Every: s.Every, Work: s.Work, Record: Record{redis.Store, s.Every}, Said: s.Said, Log: s.Log.With("replica", name),
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
