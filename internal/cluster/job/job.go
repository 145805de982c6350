package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"lockstep/internal/lock"
)

// Job is what one replica does: at every tick it asks the locker, and if it may, it records a run and works.
type Job struct {
	Name    string // of the job, and of its lock: the Redis key
	Every   Every
	Work    time.Duration // how long a run takes
	Locker  *Locker
	Runs    *Runs
	Clock   lock.Clock           // of the job; gocron has the system's
	Ran     func(tick time.Time) // is told of each run of this replica
	Trouble func(error)          // is told why a tick was not run here, unless another replica has it
}

// Start begins with the next tick. The function it returns ends the job: it interrupts the work, and gives the lock back when its time has
// come, or at once when ctx ends.
func (j *Job) Start() (stop func(ctx context.Context) error, err error) {
	scheduler, err := gocron.NewScheduler()
	if err != nil {
		return nil, fmt.Errorf("gocron: %w", err)
	}
	_, err = scheduler.NewJob(gocron.DurationJob(time.Duration(j.Every)), gocron.NewTask(j.run), gocron.WithName(j.Name),
		gocron.WithDistributedJobLocker(j.Locker),
		gocron.WithStartAt(gocron.WithStartDateTimePast(j.Every.Tick(j.Clock.Now()))), // gocron skips to the next one
		gocron.WithEventListeners(gocron.AfterLockError(func(_ uuid.UUID, _ string, err error) { j.refused(err) })))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("gocron: %w", err), scheduler.Shutdown())
	}
	scheduler.Start()
	return func(ctx context.Context) error {
		defer j.Locker.Close(ctx)
		return scheduler.Shutdown()
	}, nil
}

func (j *Job) run(ctx context.Context) {
	tick, record := j.Every.Tick(j.Clock.Now()), context.WithoutCancel(ctx)
	id, err := j.Runs.Begin(record, tick)
	if err != nil {
		j.Trouble(fmt.Errorf("recording the run: %w", err))
		return
	}
	j.Ran(tick)
	_ = lock.Sleep(ctx, j.Clock, j.Work) // an interrupted run counts as well
	if err := j.Runs.End(record, id); err != nil {
		j.Trouble(fmt.Errorf("recording the end of the run: %w", err))
	}
}

// refused is called with the reason why this replica does not run a tick.
func (j *Job) refused(err error) {
	if errors.Is(err, lock.ErrNotObtained) || errors.Is(err, lock.ErrCancelled) || errors.Is(err, ErrClosed) {
		return // as it should be
	}
	j.Trouble(fmt.Errorf("trying the lock: %w", err))
}
