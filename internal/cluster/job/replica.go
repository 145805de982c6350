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

// Replica is one of those that run a job: at every tick it asks for the lock, and if it gets it, it records a run and works.
type Replica struct {
	Name   string
	Every  Every
	Work   time.Duration // how long a run takes
	Locker lock.Locker
	Record Record
	Said   io.Writer // is told of each run
	Log    *slog.Logger
}

// Run runs the job, beginning with the next tick, until ctx ends. Then it interrupts its work, and gives the lock back when its time has
// come, or leaveTime later.
func (r *Replica) Run(ctx context.Context) error {
	scheduler, err := gocron.NewScheduler()
	if err != nil {
		return fmt.Errorf("gocron: %w", err)
	}
	locker := &Locker{Every: r.Every, Locker: r.Locker, Log: r.Log}
	_, err = scheduler.NewJob(gocron.DurationJob(time.Duration(r.Every)), gocron.NewTask(r.run), gocron.WithName(jobName),
		gocron.WithDistributedJobLocker(locker),
		gocron.WithStartAt(gocron.WithStartDateTimePast(r.Every.Tick(time.Now()))), // gocron skips to the next one
		gocron.WithEventListeners(gocron.AfterLockError(func(_ uuid.UUID, _ string, err error) {
			if !errors.Is(err, lock.ErrNotObtained) && !errors.Is(err, lock.ErrCancelled) {
				trouble(r.Log, "trying the lock", err)
			}
		})))
	if err != nil {
		return errors.Join(fmt.Errorf("gocron: %w", err), scheduler.Shutdown())
	}
	fmt.Fprintf(r.Said, "lockstep: replica %s of a job every %v\n", r.Name, r.Every)
	scheduler.Start()
	<-ctx.Done()
	defer locker.Close(ctx)
	return scheduler.Shutdown()
}

// run is what gocron calls when this replica has the lock of a tick. A run that is interrupted counts as well.
func (r *Replica) run(ctx context.Context) {
	tick, record := r.Every.Tick(time.Now()), context.WithoutCancel(ctx)
	id, err := r.Record.Begin(record, tick, r.Name)
	if err != nil {
		trouble(r.Log, "recording the run", err)
		return
	}
	fmt.Fprintf(r.Said, "tick %s · replica %s (pid %d) ran it\n", r.Every.clock(tick), r.Name, os.Getpid())
	_ = lock.Sleep(ctx, lock.SystemClock{}, r.Work)
	trouble(r.Log, "recording the end of the run", r.Record.End(record, id))
}
