package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"lockstep/internal/cluster"
	"lockstep/internal/dao"
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/shop/config"
	"lockstep/internal/strategy"
)

// jobName is the job's, and so the key of its lock.
const jobName = "job"

// leaveTime bounds each step of ending that talks to Redis.
const leaveTime = 5 * time.Second

// Session is a job that is run by several replicas, as processes of this very program.
type Session struct {
	Config   config.Config
	Every    time.Duration
	Work     time.Duration // how long a run takes
	Lock     strategy.Strategy
	Replicas int
	Ticks    int // 0: until interrupted

	Arguments []string  // those of a replica, the name of the subcommand first
	Given     []string  // the flags given to this process, which its replicas get, too
	Said      io.Writer // what the replicas say that they run
	Logged    io.Writer
	Log       *slog.Logger
	Ready     func(firstLine string) // is told once the replicas have been started
}

// Run starts the replicas, lets them run until enough ticks are over or ctx ends, and counts the runs.
func (s Session) Run(ctx context.Context) (Result, error) {
	redis, err := openRedis(ctx, s.Config.Redis)
	if err != nil {
		return Result{}, err
	}
	first, last, err := s.runFor(ctx, redis)
	if err != nil {
		return Result{}, errors.Join(err, redis.Close())
	}
	count, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer cancel()
	record := &Runs{Client: redis.Store, Name: jobName, Every: Every(s.Every), Events: MaxEvents}
	runs, complete, err := record.All(count)
	if err := errors.Join(err, redis.Close()); err != nil {
		return Result{}, fmt.Errorf("counting the runs: %w", err)
	}
	if !complete && len(runs) > 0 && runs[0].Tick.After(first) {
		first = runs[0].Tick.Add(s.Every) // earlier runs are forgotten
	}
	return Result{
		Lock: s.Lock.Name, Every: s.Every.String(), Replicas: s.Replicas, every: s.Every,
		Tally: NewTally(runs, Every(s.Every), s.Work, first, last),
	}, nil
}

// errNoStock means that a lock is of a stock in segments.
var errNoStock = errors.New("segmented divides a stock, and a job has none")

// runFor starts the replicas and stops them. It returns the first and the last of the ticks that all of them could have run.
func (s Session) runFor(ctx context.Context, redis *dao.Redis) (first, last time.Time, err error) {
	if s.Lock.Update == strategy.Segmented {
		return first, last, fmt.Errorf("%w: take v11, which each segment has", errNoStock)
	}
	if err := redis.Fits(ctx, s.Lock, jobName, rights()); err != nil {
		return first, last, err
	}
	replica, err := cluster.Command(s.Config, redis.Addr, redis.Nodes.Addrs(), s.Given, s.Arguments, s.Said, s.Logged)
	if err != nil {
		return first, last, err
	}
	replicas, err := cluster.Start(ctx, s.Replicas, replica, 4*leaveTime, s.Log)
	if err != nil {
		return first, last, err
	}
	first = time.Now().Truncate(s.Every).Add(s.Every) // all replicas are up by then
	s.Ready(fmt.Sprintf("lockstep: a job every %v · %d replicas · lock %s (%s) · %s · counting from tick %s",
		s.Every, s.Replicas, s.Lock.Name, s.Lock.Title.In(language.English), redis.Name, clockTime(first, s.Every)))
	last = waitForTicks(ctx, Every(s.Every), first, s.Ticks)
	replicas.Stop()
	return first, last, nil
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

// waitForTicks waits until n ticks are over, from the first on, or until ctx ends. It returns the last tick that is over.
func waitForTicks(ctx context.Context, every Every, first time.Time, n int) (last time.Time) {
	if n > 0 {
		last = first.Add(time.Duration(n-1) * time.Duration(every))
		if lock.Sleep(ctx, lock.SystemClock{}, time.Until(last.Add(every.Over()))) == nil {
			return last
		}
	}
	<-ctx.Done()
	return time.Now().Add(-every.Over()).Truncate(time.Duration(every))
}

// clockTime writes a tick for people: the time of day, as exact as the ticks are.
func clockTime(tick time.Time, every time.Duration) string {
	if every%time.Second == 0 {
		return tick.Local().Format(time.TimeOnly)
	}
	return tick.Local().Format(time.TimeOnly + ".000")
}
