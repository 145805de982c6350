package job_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/cluster/job"
	"lockstep/internal/lock"
)

// isLocked reports whether the job's lock is held.
func (w *world) isLocked() bool {
	w.t.Helper()
	n, err := w.outside.Exists(w.t.Context(), "job").Result()
	if err != nil {
		w.t.Fatal(err)
	}
	return n == 1
}

func TestLockIsHeldUntilDeadlineOfTick(t *testing.T) {
	for name, make := range expiring {
		t.Run(name, func(t *testing.T) {
			testInWorld(t, group{make: make, delays: []time.Duration{0}}, func(t *testing.T, w *world) {
				// In tick 0 the process only subscribes, and does not keep the lock yet.
				w.sleepUntil(1, 399*time.Millisecond)
				if !w.isLocked() {
					t.Error("the lock is free before the deadline of the tick")
				}
				w.sleepUntil(1, 400*time.Millisecond)
				if keeps := cached[name] != nil; w.isLocked() != keeps { // a cached lock is kept until another process asks
					t.Errorf("after the deadline of the tick, the lock is kept: %t", !keeps)
				}
			})
		})
	}
}

// Any error makes gocron skip the run; the specific error is for Job.
func TestLockFailsWhenHeldOrLate(t *testing.T) {
	testInWorld(t, group{make: v4, delays: []time.Duration{0}}, func(t *testing.T, w *world) {
		locker := &job.Locker{Every: every, Locker: w.replicas[0].locker}
		w.sleepUntil(0, 100*time.Millisecond)
		if _, err := locker.Lock(t.Context(), "job"); !errors.Is(err, lock.ErrNotObtained) {
			t.Errorf("held by another: %v", err)
		}
		w.sleepUntil(0, 600*time.Millisecond)
		if _, err := locker.Lock(t.Context(), "job"); !errors.Is(err, job.ErrLate) || w.isLocked() {
			t.Errorf("late: %v, and locked: %v", err, w.isLocked())
		}
		w.redis.SetError("LOADING gone")
		if _, err := locker.Lock(t.Context(), "job"); !errors.Is(err, lock.ErrUnavailable) {
			t.Errorf("no Redis: %v", err)
		}
		w.redis.SetError("")
	})
}

// A replica that ends holds its lock until the deadline of the tick, because another replica may still try to run it.
func TestEndingReplicaHoldsLockUntilDeadlineOfTick(t *testing.T) {
	testInWorld(t, group{make: v1, delays: []time.Duration{0}}, func(t *testing.T, w *world) {
		w.sleepUntil(0, 100*time.Millisecond)
		w.stop(w.replicas[0])
		if now := time.Now(); w.isLocked() || !now.Equal(tick(0).Add(400*time.Millisecond)) {
			t.Errorf("the replica ended %v after the tick, locked: %v", now.Sub(tick(0)), w.isLocked())
		}
	})
}

// keepingLock is a lock that keeps something between leases. It records its calls.
type keepingLock struct {
	key    string
	events *[]string
}

func (k keepingLock) event(what string) { *k.events = append(*k.events, what+" "+k.key) }

func (k keepingLock) Lock(context.Context, string) (*lock.Lease, error) { panic("a job does not wait") }

func (k keepingLock) TryLock(ctx context.Context, _ string) (*lock.Lease, error) {
	k.event("lock")
	return lock.NewLease(ctx, lock.SystemClock{}, 0, func(context.Context) error {
		k.event("unlock")
		return nil
	}), nil
}

func (k keepingLock) Close(ctx context.Context) error {
	k.event("close")
	return errors.Join(lock.ErrUnavailable, ctx.Err())
}

// Close releases what a lock keeps between two ticks, after the last Unlock. It does not wait for a long tick.
func TestCloseReleasesKeptLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []string
		said := &replica{Handler: slog.DiscardHandler}
		locker := &job.Locker{Every: job.TickLength(time.Hour), Locker: keepingLock{"job", &events}, Log: slog.New(said)}
		scheduler, shutDown := context.WithCancel(t.Context())
		held, err := locker.Lock(scheduler, "job")
		if err != nil {
			t.Fatal(err)
		}
		if err := held.Unlock(scheduler); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		ended := time.Now()
		shutDown()
		locker.Close(scheduler)
		if got := strings.Join(events, ", "); got != "lock job, unlock job, close job" {
			t.Errorf("%s; want it closed after the unlock", got)
		}
		if waited := time.Since(ended); waited != 5*time.Second {
			t.Errorf("Close returned %v after the scheduler ended; want 5s", waited)
		}
		if heard := said.takeErrors(); len(heard) != 1 || !errors.Is(heard[0], lock.ErrUnavailable) || errors.Is(heard[0], context.Canceled) {
			t.Errorf("trouble: %v; want that of Close, which is not cut off", heard)
		}
	})
}

// Close returns even if Redis does not answer.
func TestCloseEndsWithoutRedis(t *testing.T) {
	testInWorld(t, group{make: v1, delays: []time.Duration{0}}, func(t *testing.T, w *world) {
		w.sleepUntil(0, 100*time.Millisecond)
		w.redis.SetError("LOADING gone")
		w.stop(w.replicas[0])
		if now := time.Now(); !now.Equal(tick(0).Add(5100 * time.Millisecond)) {
			t.Errorf("the replica ended %v after the tick; want 5.1s", now.Sub(tick(0)))
		}
		if heard := w.replicas[0].takeErrors(); len(heard) != 6 || !errors.Is(heard[0], lock.ErrUnavailable) {
			t.Errorf("logged %v; want 6 errors", heard)
		}
	})
}
