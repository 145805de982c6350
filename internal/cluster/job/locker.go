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

// ErrLate is why a Locker refuses a tick that others have had the time to run.
var ErrLate = errors.New("too late for this tick")

// Locker is the gocron.Locker of one job, made of one of our locks. To gocron any error of Lock means "not now".
//
// Adds: an attempt that does not wait; a lock that is kept for a part of the tick, however quick the job is (see Every).
// What it does not give: gocron's Lock can only be unlocked, so a job is not told when its lock is lost, and sees no fencing token;
// what it writes must be correct even if it is written twice. A replica that is paused between the lock and the job runs it late. If a
// replica dies after it took the lock, its tick is not run; if the lock has no expiry, no later tick is run either.
type Locker struct {
	Every  Every
	Locker lock.Locker // the lock of the job, whose expiry should be Every.Expiry
	Log    *slog.Logger

	kept sync.WaitGroup // leases whose runs are over
}

// Lock implements gocron.Locker. It fails with ErrLate, or as TryLock does: at every tick all replicas but one get lock.ErrNotObtained.
func (l *Locker) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	lease, err := l.Locker.TryLock(ctx, key+":"+uuid.NewString())
	if err != nil {
		return nil, err
	}
	now := time.Now()
	if l.Every.Late(now) { // only now is it known: the answer may have taken its time
		return nil, errors.Join(ErrLate, lease.Unlock(ctx))
	}
	return &held{l, lease, now.Add(l.Every.Keep())}, nil
}

// Close waits until every lease is given back, and gives back what the lock keeps. The scheduler has been shut down by then.
func (l *Locker) Close(ctx context.Context) {
	l.kept.Wait()
	trouble(l.Log, "giving back the lock", lock.Close(ctx, lock.SystemClock{}, l.Locker))
}

// trouble logs why something could not be done, if it could not.
func trouble(log *slog.Logger, what string, err error) {
	if err != nil {
		log.Error("the job", "error", fmt.Errorf("%s: %w", what, err))
	}
}

// held is a lock that one of our replicas has.
type held struct {
	*Locker
	lease *lock.Lease
	until time.Time // when the lease is given back
}

// Unlock implements gocron.Lock. It does not wait: the lock is given back when it has been kept for long enough, or leaveTime after the end
// of ctx, which is the scheduler's.
func (h *held) Unlock(ctx context.Context) error {
	h.kept.Go(func() {
		keep, hurry := context.WithCancel(context.WithoutCancel(ctx))
		defer hurry()
		defer context.AfterFunc(ctx, func() { time.AfterFunc(leaveTime, hurry) })()
		err := lock.ErrUnavailable
		for until := h.until; errors.Is(err, lock.ErrUnavailable) && keep.Err() == nil; until = h.Every.After(until, 1) {
			_ = lock.Sleep(keep, lock.SystemClock{}, time.Until(until))
			err = h.lease.Unlock(ctx) // again at each tick until Redis answers: some locks do not expire
			trouble(h.Log, "giving back the lock", err)
		}
	})
	return nil
}
