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

// locker returns a strategy whose Lock and TryLock are one function.
func locker(acquire func(context.Context, redis.Cmdable, lock.Options, string) (*lock.Lease, error)) strategy.Strategy {
	return strategy.Strategy{
		Name: "mine",
		New: func(p strategy.Parts) lock.Locker {
			return funcLocker(func(ctx context.Context, owner string) (*lock.Lease, error) {
				return acquire(ctx, p.Client, p.Options, owner)
			})
		},
	}
}

// funcLocker implements lock.Locker by a function for both methods.
type funcLocker func(context.Context, string) (*lock.Lease, error)

func (f funcLocker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return f(ctx, owner)
}

func (f funcLocker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	return f(ctx, owner)
}

// nothingHeld returns a lease without a lock.
func nothingHeld(ctx context.Context, opts lock.Options) (*lock.Lease, error) {
	return lock.NewLease(ctx, opts.Clock, 0, func(context.Context) error { return nil }), nil
}

// A lock that waits on a channel of its own is refused.
func TestHiddenWaitIsErrBlind(t *testing.T) {
	t.Parallel() // the explorer takes two seconds to be sure
	release := make(chan struct{})
	defer close(release) // otherwise the test's goroutine would leak
	strategy := locker(func(ctx context.Context, _ redis.Cmdable, opts lock.Options, _ string) (*lock.Lease, error) {
		<-release
		return nothingHeld(ctx, opts)
	})
	_, err := explore.Explore(t.Context(), strategy, explore.Scenario{Actors: 1}, explore.Goal{},
		explore.Bounds{Workers: 1, StallTimeout: 20 * time.Millisecond})
	if !errors.Is(err, explore.ErrBlind) {
		t.Errorf("got %v; want ErrBlind", err)
	}
}

// A lock that loops without a wait is refused with its line, and long before the patience for slow code has run out.
func TestEndlessLoopIsErrBlind(t *testing.T) {
	t.Parallel() // the explorer takes two seconds to be sure
	var stop atomic.Bool
	defer stop.Store(true) // otherwise the test's goroutine would leak
	strategy := locker(func(ctx context.Context, _ redis.Cmdable, opts lock.Options, _ string) (*lock.Lease, error) {
		for !stop.Load() {
			continue
		}
		return nothingHeld(ctx, opts)
	})
	_, err := explore.Explore(t.Context(), strategy, explore.Scenario{Actors: 1}, explore.Goal{},
		explore.Bounds{Workers: 1, StallTimeout: time.Hour})
	if !errors.Is(err, explore.ErrBlind) || !strings.Contains(err.Error(), "misuse_test.go:") {
		t.Errorf("got %v; want ErrBlind with the line", err)
	}
}

// A panic of the lock is an error that has the schedule which led to it.
func TestPanicIsErrPanicked(t *testing.T) {
	strategy := locker(func(ctx context.Context, client redis.Cmdable, opts lock.Options, _ string) (*lock.Lease, error) {
		if client.Get(ctx, "inventory").Val() == "99" {
			panic("out of luck")
		}
		return nothingHeld(ctx, opts)
	})
	goal := explore.Goal{Anomalies: []explore.Anomaly{anomaly.Stuck}}
	_, err := explore.Explore(t.Context(), strategy, explore.Scenario{Actors: 2}, goal, explore.Bounds{Workers: 1})
	if !errors.Is(err, explore.ErrPanicked) || !strings.Contains(err.Error(), `after "A:GET A:GET A:write B:GET": B panicked: out of luck`) {
		t.Errorf("got %v; want ErrPanicked with the schedule", err)
	}
}

// A key of a type that the simulated Redis does not have is an error that names the key.
func TestStreamKeyIsRefused(t *testing.T) {
	strategy := locker(func(ctx context.Context, client redis.Cmdable, opts lock.Options, _ string) (*lock.Lease, error) {
		client.XAdd(ctx, &redis.XAddArgs{Stream: "queue", Values: []string{"a", "b"}})
		return nothingHeld(ctx, opts)
	})
	_, err := explore.Explore(t.Context(), strategy, explore.Scenario{Actors: 1}, explore.Goal{}, explore.Bounds{Workers: 1})
	if err == nil || !strings.Contains(err.Error(), "the key queue is a stream") {
		t.Errorf("got %v; want the key and its type", err)
	}
}

// A lock that keeps trying although its process is dead does not keep the exploration from ending.
func TestLockOfDeadProcessDoesNotBlockExplorer(t *testing.T) {
	strategy := locker(func(ctx context.Context, client redis.Cmdable, opts lock.Options, owner string) (*lock.Lease, error) {
		ctx = context.WithoutCancel(ctx)
		return lock.Poll(ctx, opts, func() (*lock.Lease, error) {
			if !client.SetNX(ctx, opts.Key, owner, opts.TTL).Val() { // any failure counts as not obtained
				return nil, lock.ErrNotObtained
			}
			return lock.NewLease(ctx, opts.Clock, 0, func(ctx context.Context) error { return client.Del(ctx, opts.Key).Err() }), nil
		})
	})
	scenario := twoActors("crash=1,cancel=1")
	result, err := explore.Explore(t.Context(), strategy, scenario, explore.Goal{}, explore.Bounds{})
	if err != nil || result.Verdict() != verdict.Holds {
		t.Errorf("got %s, %v; want it to hold", result.Verdict(), err)
	}
}

// A lock that polls in a loop of its own is refused. One that makes a few attempts with pauses in between does not count as polling.
func TestUndeclaredPollingIsErrUnsaid(t *testing.T) {
	pollingLock := func(pause time.Duration, maxAttempts int) strategy.Strategy {
		return locker(func(ctx context.Context, client redis.Cmdable, opts lock.Options, owner string) (*lock.Lease, error) {
			for range maxAttempts {
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
	const shortPause, longPause = 20 * time.Millisecond, 50 * time.Millisecond
	for _, test := range []struct {
		pause       time.Duration
		maxAttempts int
		want        error
	}{
		{pause: shortPause, maxAttempts: 1000, want: explore.ErrUndeclaredPoll},
		{pause: longPause, maxAttempts: 1000},
		{pause: shortPause, maxAttempts: 3},
	} {
		t.Run(fmt.Sprintf("%d attempts, every %v", test.maxAttempts, test.pause), func(t *testing.T) {
			_, err := explore.Explore(t.Context(), pollingLock(test.pause, test.maxAttempts), explore.Scenario{Actors: 2}, explore.Goal{},
				explore.Bounds{Schedules: 2000})
			text := fmt.Sprint(err)
			hasIfError := func(part string) bool { return err == nil || strings.Contains(text, part) }
			if !errors.Is(err, test.want) || !hasIfError("lock.Poll") || !hasIfError("locktest") || !hasIfError("misuse_test.go:") {
				t.Errorf("got %v; want %v with the line and locktest", err, test.want)
			}
		})
	}
}
