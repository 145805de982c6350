package explore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
	"lockstep/internal/verdict"
)

// locker makes a strategy of a function that takes the lock.
func locker(take func(context.Context, redis.Cmdable, lock.Options, string) (*lock.Lease, error)) strategy.Strategy {
	return strategy.Strategy{
		Name: "mine",
		New: func(p strategy.Parts) lock.Locker {
			return funcLocker(func(ctx context.Context, owner string) (*lock.Lease, error) {
				return take(ctx, p.Client, p.Options, owner)
			})
		},
	}
}

type funcLocker func(context.Context, string) (*lock.Lease, error)

func (f funcLocker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return f(ctx, owner)
}

func (f funcLocker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	return f(ctx, owner)
}

func nothingHeld(ctx context.Context, opts lock.Options) (*lock.Lease, error) {
	return lock.NewLease(ctx, opts.Clock, 0, func(context.Context) error { return nil }), nil
}

func TestALockThatWaitsBehindOurBack(t *testing.T) {
	t.Parallel() // it takes two seconds to be sure
	release := make(chan struct{})
	defer close(release) // or the test's goroutine leaks
	strategy := locker(func(ctx context.Context, _ redis.Cmdable, opts lock.Options, _ string) (*lock.Lease, error) {
		<-release
		return nothingHeld(ctx, opts)
	})
	_, err := explore.Explore(t.Context(), strategy, explore.Scenario{Actors: 1}, explore.Goal{},
		explore.Bounds{Workers: 1, Patience: 20 * time.Millisecond})
	if !errors.Is(err, explore.ErrBlind) {
		t.Errorf("%v; want ErrBlind", err)
	}
}

// It does not take the patience that code without a loop may need on a slow machine.
func TestALockThatLoops(t *testing.T) {
	t.Parallel() // it takes two seconds to be sure
	var enough atomic.Bool
	defer enough.Store(true) // or the test's goroutine leaks
	strategy := locker(func(ctx context.Context, _ redis.Cmdable, opts lock.Options, _ string) (*lock.Lease, error) {
		for !enough.Load() {
			continue
		}
		return nothingHeld(ctx, opts)
	})
	_, err := explore.Explore(t.Context(), strategy, explore.Scenario{Actors: 1}, explore.Goal{},
		explore.Bounds{Workers: 1, Patience: time.Hour})
	if !errors.Is(err, explore.ErrBlind) || !strings.Contains(err.Error(), "misuse_test.go:") {
		t.Errorf("%v; want ErrBlind, and the line", err)
	}
}

func TestALockThatPanics(t *testing.T) {
	strategy := locker(func(ctx context.Context, client redis.Cmdable, opts lock.Options, _ string) (*lock.Lease, error) {
		if client.Get(ctx, "inventory").Val() == "99" {
			panic("out of luck")
		}
		return nothingHeld(ctx, opts)
	})
	goal := explore.Goal{Anomalies: []explore.Anomaly{anomaly.Stuck}}
	_, err := explore.Explore(t.Context(), strategy, explore.Scenario{Actors: 2}, goal, explore.Bounds{Workers: 1})
	if !errors.Is(err, explore.ErrPanicked) || !strings.Contains(err.Error(), `after "A:GET A:GET A:write B:GET": B panicked: out of luck`) {
		t.Errorf("%v; want the panic, and how it came to it", err)
	}
}

func TestAKeyOfAnotherType(t *testing.T) {
	strategy := locker(func(ctx context.Context, client redis.Cmdable, opts lock.Options, _ string) (*lock.Lease, error) {
		client.XAdd(ctx, &redis.XAddArgs{Stream: "queue", Values: []string{"a", "b"}})
		return nothingHeld(ctx, opts)
	})
	_, err := explore.Explore(t.Context(), strategy, explore.Scenario{Actors: 1}, explore.Goal{}, explore.Bounds{Workers: 1})
	if err == nil || !strings.Contains(err.Error(), "the key queue is a stream") {
		t.Errorf("%v; want it to say which key it cannot keep", err)
	}
}

// A lock that keeps trying after its process is dead does not keep the explorer.
func TestALockThatNeverGivesUp(t *testing.T) {
	strategy := locker(func(ctx context.Context, client redis.Cmdable, opts lock.Options, owner string) (*lock.Lease, error) {
		ctx = context.WithoutCancel(ctx)
		return lock.Poll(ctx, opts, func() (*lock.Lease, error) {
			if !client.SetNX(ctx, opts.Key, owner, opts.TTL).Val() { // whatever went wrong
				return nil, lock.ErrNotObtained
			}
			return lock.NewLease(ctx, opts.Clock, 0, func(ctx context.Context) error { return client.Del(ctx, opts.Key).Err() }), nil
		})
	})
	scenario := faultsOfTwo("crash=1,cancel=1")
	result, err := explore.Explore(t.Context(), strategy, scenario, explore.Goal{}, explore.Bounds{})
	if err != nil || result.Verdict() != verdict.Holds {
		t.Errorf("%s, %v; want it to hold", result.Verdict(), err)
	}
}

// A lock that polls has to say so. One that asks a few questions with pauses between them does not poll.
func TestALockThatPollsByALoopOfItsOwn(t *testing.T) {
	taking := func(pause time.Duration, most int) strategy.Strategy {
		return locker(func(ctx context.Context, client redis.Cmdable, opts lock.Options, owner string) (*lock.Lease, error) {
			for range most {
				if client.SetNX(ctx, opts.Key, owner, opts.TTL).Val() {
					return lock.NewLease(ctx, opts.Clock, 0, func(ctx context.Context) error { return client.Del(ctx, opts.Key).Err() }), nil
				}
				if err := lock.Sleep(ctx, opts.Clock, pause); err != nil {
					return nil, err
				}
			}
			return nil, lock.ErrNotObtained
		})
	}
	const moment, longer = 20 * time.Millisecond, 50 * time.Millisecond
	for _, test := range []struct {
		pause time.Duration
		most  int
		want  error
	}{{moment, 1000, explore.ErrUndeclaredPoll}, {longer, 1000, nil}, {moment, 3, nil}} {
		_, err := explore.Explore(t.Context(), taking(test.pause, test.most), explore.Scenario{Actors: 2}, explore.Goal{},
			explore.Bounds{Schedules: 2000})
		said := fmt.Sprint(err)
		names := func(what string) bool { return err == nil || strings.Contains(said, what) }
		if !errors.Is(err, test.want) || !names("lock.Poll") || !names("locktest") || !names("misuse_test.go:") {
			t.Errorf("%d attempts, every %v: %v; want %v, the line and locktest", test.most, test.pause, err, test.want)
		}
	}
}
