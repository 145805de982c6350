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

// locked reports whether the job's lock is held.
func (w *world) locked() bool {
	w.t.Helper()
	n, err := w.outside.Exists(w.t.Context(), "job").Result()
	if err != nil {
		w.t.Fatal(err)
	}
	return n == 1
}

func TestLockIsKeptForAPartOfTheTick(t *testing.T) {
	for name, make := range expiring {
		t.Run(name, func(t *testing.T) {
			inWorld(t, group{make: make, late: []time.Duration{0}}, func(t *testing.T, w *world) {
				// during tick 0 a process begins to listen, and keeps nothing yet
				w.until(1, 399*time.Millisecond)
				if !w.locked() {
					t.Error("it is free before it is too late for the tick")
				}
				w.until(1, 400*time.Millisecond)
				if keeps := cached[name] != nil; w.locked() != keeps { // until another process asks
					t.Errorf("it is kept after it is too late for the tick: %t", !keeps)
				}
			})
		})
	}
}

// To gocron any error means "not now"; which one it is, Job can tell.
func TestLockFailsWhenHeldOrLate(t *testing.T) {
	inWorld(t, group{make: v4, late: []time.Duration{0}}, func(t *testing.T, w *world) {
		locker := &job.Locker{Every: every, Locker: w.replicas[0].locker}
		w.until(0, 100*time.Millisecond)
		if _, err := locker.Lock(t.Context(), "job"); !errors.Is(err, lock.ErrNotObtained) {
			t.Errorf("held by another: %v", err)
		}
		w.until(0, 600*time.Millisecond)
		if _, err := locker.Lock(t.Context(), "job"); !errors.Is(err, job.ErrLate) || w.locked() {
			t.Errorf("late: %v, and locked: %v", err, w.locked())
		}
		w.redis.SetError("LOADING gone")
		if _, err := locker.Lock(t.Context(), "job"); !errors.Is(err, lock.ErrUnavailable) {
			t.Errorf("no Redis: %v", err)
		}
		w.redis.SetError("")
	})
}

// A replica that ends keeps its lock until it is too late for the tick: another one may be here for it yet.
func TestEnding(t *testing.T) {
	inWorld(t, group{make: v1, late: []time.Duration{0}}, func(t *testing.T, w *world) {
		w.until(0, 100*time.Millisecond)
		w.stop(w.replicas[0])
		if now := time.Now(); w.locked() || !now.Equal(tick(0).Add(400*time.Millisecond)) {
			t.Errorf("it ended %v after the tick, and locked: %v", now.Sub(tick(0)), w.locked())
		}
	})
}

// keeper is a lock that keeps something between leases. It writes down what happens to it.
type keeper struct {
	key    string
	events *[]string
}

func (k keeper) event(what string) { *k.events = append(*k.events, what+" "+k.key) }

func (k keeper) Lock(context.Context, string) (*lock.Lease, error) { panic("a job does not wait") }

func (k keeper) TryLock(ctx context.Context, _ string) (*lock.Lease, error) {
	k.event("lock")
	return lock.NewLease(ctx, lock.SystemClock{}, 0, func(context.Context) error {
		k.event("unlock")
		return nil
	}), nil
}

func (k keeper) Close(ctx context.Context) error {
	k.event("close")
	return errors.Join(lock.ErrUnavailable, ctx.Err())
}

// What a lock keeps between two ticks is given back in the end, after the last unlock. That does not wait for a long tick.
func TestCloseClosesTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []string
		said := &replica{Handler: slog.DiscardHandler}
		locker := &job.Locker{Every: job.Every(time.Hour), Locker: keeper{"job", &events}, Log: slog.New(said)}
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
			t.Errorf("it ended %v after its scheduler", waited)
		}
		if heard := said.heard(); len(heard) != 1 || !errors.Is(heard[0], lock.ErrUnavailable) || errors.Is(heard[0], context.Canceled) {
			t.Errorf("trouble: %v; want that of Close, which is not cut off", heard)
		}
	})
}

// Without a Redis, too, it ends.
func TestCloseEndsWithoutRedis(t *testing.T) {
	inWorld(t, group{make: v1, late: []time.Duration{0}}, func(t *testing.T, w *world) {
		w.until(0, 100*time.Millisecond)
		w.redis.SetError("LOADING gone")
		w.stop(w.replicas[0])
		if now := time.Now(); !now.Equal(tick(0).Add(5100 * time.Millisecond)) {
			t.Errorf("it ended %v after the tick", now.Sub(tick(0)))
		}
		if heard := w.replicas[0].heard(); len(heard) != 6 || !errors.Is(heard[0], lock.ErrUnavailable) {
			t.Errorf("it says %v", heard)
		}
	})
}
