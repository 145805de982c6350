package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"lockstep/internal/lock"
)

// Replica is one of several processes that run a job. At every tick it tries the lock; if it gets it, it records a run and works.
type Replica struct {
	Name   string
	Every  TickLength
	Work   time.Duration // length of a run
	Locker lock.Locker
	Record Record
	Output io.Writer // gets a line for each run
	Log    *slog.Logger
}

// Run runs the job from the next tick on, until ctx ends. Then it interrupts its work, and releases the lock at its time, or leaveTime
// later.
func (r *Replica) Run(ctx context.Context) error {
	scheduler, err := gocron.NewScheduler()
	if err != nil {
		return fmt.Errorf("gocron: %w", err)
	}
	locker := &Locker{Every: r.Every, Locker: r.Locker, Log: r.Log}
	_, err = scheduler.NewJob(gocron.DurationJob(time.Duration(r.Every)), gocron.NewTask(r.run), gocron.WithName(jobName),
		gocron.WithDistributedJobLocker(locker),
		gocron.WithStartAt(gocron.WithStartDateTimePast(r.Every.Tick(time.Now()))), // gocron skips to the next tick.
		gocron.WithEventListeners(gocron.AfterLockError(func(_ uuid.UUID, _ string, err error) {
			if !errors.Is(err, lock.ErrNotObtained) && !errors.Is(err, lock.ErrCancelled) {
				logError(r.Log, "trying the lock", err)
			}
		})))
	if err != nil {
		return errors.Join(fmt.Errorf("gocron: %w", err), scheduler.Shutdown())
	}
	fmt.Fprintf(r.Output, "lockstep: replica %s of a job every %v\n", r.Name, r.Every)
	scheduler.Start()
	<-ctx.Done()
	defer locker.Close(ctx)
	return scheduler.Shutdown()
}

// run is called by gocron when this replica holds the lock of a tick. An interrupted run counts as a run.
func (r *Replica) run(ctx context.Context) {
	tick, record := r.Every.Tick(time.Now()), context.WithoutCancel(ctx)
	id, err := r.Record.Begin(record, tick, r.Name)
	if err != nil {
		logError(r.Log, "recording the run", err)
		return
	}
	fmt.Fprintf(r.Output, "tick %s · replica %s (pid %d) ran it\n", r.Every.clock(tick), r.Name, os.Getpid())
	_ = lock.Sleep(ctx, lock.SystemClock{}, r.Work)
	logError(r.Log, "recording the end of the run", r.Record.End(record, id))
}
