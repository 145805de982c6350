package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"lockstep/internal/lock"
)

// ErrLate is returned by Locker.Lock when it is so late in the tick that another replica may have run it.
var ErrLate = errors.New("too late for this tick")

// Locker implements gocron.Locker for one job, by a lock.Locker. gocron takes any error of Lock for "not now".
//
// Adds: an attempt that does not wait; a lock that is kept for a part of the tick, however quick the job is (see Every).
// What it does not give: gocron's Lock can only be unlocked, so a job is not told when its lock is lost, and sees no fencing token;
// what it writes must be correct even if it is written twice. A replica that is paused between the lock and the job runs it late. If a
// replica dies after it took the lock, its tick is not run; if the lock has no expiry, no later tick is run either.
type Locker struct {
	Every  TickLength  // length of a tick
	Locker lock.Locker // lock of the job, whose expiry should be Every.Expiry
	Log    *slog.Logger

	unlocks sync.WaitGroup // pending releases of leases whose runs have ended
}

// Lock implements gocron.Locker. It fails with ErrLate, or as TryLock does: at every tick all replicas but one get lock.ErrNotObtained.
func (l *Locker) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	lease, err := l.Locker.TryLock(ctx, key+":"+uuid.NewString())
	if err != nil {
		return nil, err
	}
	now := time.Now()
	if l.Every.IsLate(now) { // The answer of Redis may have taken long.
		return nil, errors.Join(ErrLate, lease.Unlock(ctx))
	}
	return &jobLock{l, lease, now.Add(l.Every.KeepTime())}, nil
}

// Close waits until every lease is released, and closes the lock. Shut down the scheduler before.
func (l *Locker) Close(ctx context.Context) {
	l.unlocks.Wait()
	logError(l.Log, "releasing the lock", lock.Close(ctx, lock.SystemClock{}, l.Locker))
}

// logError logs that an action of the job failed, if err is not nil.
func logError(log *slog.Logger, action string, err error) {
	if err != nil {
		log.Error("the job", "error", fmt.Errorf("%s: %w", action, err))
	}
}

// jobLock implements gocron.Lock: the lock that this replica holds for a tick.
type jobLock struct {
	*Locker
	lease *lock.Lease
	until time.Time // earliest time of the release
}

// Unlock implements gocron.Lock. It does not wait: the lock is released later, at until or leaveTime after the end of ctx, the scheduler's
// context, whichever is earlier.
func (j *jobLock) Unlock(ctx context.Context) error {
	j.unlocks.Go(func() {
		keep, stopKeeping := context.WithCancel(context.WithoutCancel(ctx))
		defer stopKeeping()
		defer context.AfterFunc(ctx, func() { time.AfterFunc(leaveTime, stopKeeping) })()
		err := lock.ErrUnavailable
		for until := j.until; errors.Is(err, lock.ErrUnavailable) && keep.Err() == nil; until = j.Every.AddTicks(until, 1) {
			_ = lock.Sleep(keep, lock.SystemClock{}, time.Until(until))
			err = j.lease.Unlock(ctx) // repeated at each tick until Redis answers, because some locks do not expire
			logError(j.Log, "releasing the lock", err)
		}
	})
	return nil
}
