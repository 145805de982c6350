package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"github.com/google/uuid"

	"lockstep/internal/dao"
	"lockstep/internal/lock"
	"lockstep/internal/shop/config"
	"lockstep/internal/strategy"
)

// Replica is one of those that run the job of a Session.
type Replica struct {
	Config config.Config
	Every  time.Duration
	Work   time.Duration
	Lock   strategy.Strategy
	Said   io.Writer
	Log    *slog.Logger
}

// Run runs the job until ctx ends.
func (r Replica) Run(ctx context.Context) error {
	cfg, every := r.Config, Every(r.Every)
	redis, err := dao.Open(ctx, cfg.Redis)
	if err != nil {
		return err
	}
	name, clock := cfg.Server.Replica, lock.SystemClock{}
	log := r.Log.With("replica", name)
	trouble := func(err error) { log.Error("the job", "error", err) }
	parts := strategy.Parts{
		Options: lock.Options{
			Key: jobName, TTL: every.Expiry(), RetryInterval: cfg.Settings.RetryInterval, WaitTimeout: cfg.Settings.WaitTimeout,
			Clock:   lock.SystemClock{Ahead: cfg.Server.ClockOffset},
			Process: uuid.NewString(), HandOffLimit: cfg.Settings.HandOffLimit,
			Notifier: redis.Notifier, Rand: rand.Int64N,
		},
		Client: redis.Lock, CompareAndDelete: redis.Servers.CompareAndDelete, Nodes: redis.Nodes.Clients(),
	}
	stop, err := (&Job{
		Name: jobName, Every: every, Work: r.Work, Clock: clock,
		Locker: NewLocker(every, clock, uuid.NewString, r.Lock.New(parts), trouble),
		Runs:   &Runs{Client: redis.Store, Name: jobName, Every: every, Events: MaxEvents, Replica: name},
		Ran: func(tick time.Time) {
			fmt.Fprintf(r.Said, "tick %s · replica %s (pid %d) ran it\n", clockTime(tick, r.Every), name, os.Getpid())
		},
		Trouble: trouble,
	}).Start()
	if err != nil {
		return errors.Join(err, redis.Close())
	}
	fmt.Fprintf(r.Said, "lockstep: replica %s of a job every %v · lock %s · %s\n", name, r.Every, r.Lock.Name, redis.Name)
	<-ctx.Done()
	leave, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	return errors.Join(stop(leave), redis.Close())
}
