package explore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
	"lockstep/internal/verdict"
)

// The explorer assumes that a waiter in lock.Poll repeats the same attempt. One that does not is refused with its line, in every scenario
// and with any number of workers.
func TestWaiterThatChangesItsAttemptIsErrUnsaid(t *testing.T) {
	for name, s := range map[string]strategy.Strategy{
		"enters at its fourth attempt":                  grantedAt(4),
		"enters at its twentieth attempt":               grantedAt(20),
		"extends the lock that it waits for":            extendsWhileWaiting(),
		"sends another command at its eleventh attempt": readsHolderAt(11),
	} {
		for _, scenario := range []explore.Scenario{{Actors: 2}, {Actors: 3}, twoActors("crash=1"), twoActors("crash=1,lost-reply=1")} {
			for _, workers := range []int{1, 2} {
				t.Run(fmt.Sprint(name, " ", scenario, " ", workers), func(t *testing.T) {
					goal, bounds := explore.Goal{Anomalies: []explore.Anomaly{anomaly.TwoHolders}}, explore.Bounds{Schedules: 3000, Workers: workers}
					result, err := explore.Explore(t.Context(), s, scenario, goal, bounds)
					text := fmt.Sprint(err)
					if !errors.Is(err, explore.ErrUndeclaredPoll) || !strings.Contains(text, "polls_test.go:") || !strings.Contains(text, "locktest") {
						t.Errorf("got %s, %s, %v; want ErrUndeclaredPoll with the line and locktest", result.Verdict(), foundWithin(100, result), err)
					}
				})
			}
		}
	}
}

// grantedAt returns a lock whose nth attempt succeeds, whatever Redis answers.
func grantedAt(n int) strategy.Strategy {
	return locker(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (*lock.Lease, error) {
		attempts := 0
		return lock.Poll(ctx, opts, func() (*lock.Lease, error) {
			attempts++
			if err := setNX(ctx, c, opts, owner); err != nil && attempts < n {
				return nil, err
			}
			return lock.NewLease(ctx, opts.Clock, 0, deletes(c, opts, compareAndDelete, owner)), nil
		})
	})
}

// readsHolderAt returns a lock that also reads the holder at its nth attempt.
func readsHolderAt(n int) strategy.Strategy {
	return locker(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (*lock.Lease, error) {
		attempts := 0
		return lock.Poll(ctx, opts, func() (*lock.Lease, error) {
			if attempts++; attempts == n {
				c.Get(ctx, opts.Key)
			}
			return lock.NewLease(ctx, opts.Clock, 0, deletes(c, opts, compareAndDelete, owner)), setNX(ctx, c, opts, owner)
		})
	})
}

// extendsWhileWaiting returns a lock whose waiters extend its expiry, so that nobody obtains the lock of a dead holder.
func extendsWhileWaiting() strategy.Strategy {
	return locker(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (*lock.Lease, error) {
		return lock.Poll(ctx, opts, func() (*lock.Lease, error) {
			err := setNX(ctx, c, opts, owner)
			if errors.Is(err, lock.ErrNotObtained) {
				c.PExpire(ctx, opts.Key, opts.TTL)
			}
			return lock.NewLease(ctx, opts.Clock, 0, deletes(c, opts, compareAndDelete, owner)), err
		})
	})
}

// A correct lock whose value has a deadline by Redis's clock becomes free without the expiry of a key. Waiting for it after a crash does
// not count as stuck. If the deadline is far away, the verdict is unknown.
func TestLockByRedisTimeIsNotStuck(t *testing.T) {
	for _, test := range []struct {
		ttl      time.Duration // time until the deadline in the value
		scenario explore.Scenario
		want     verdict.Verdict
	}{
		{ttl: 10 * time.Second, scenario: explore.Scenario{Actors: 2}, want: verdict.Holds},
		{ttl: 10 * time.Second, scenario: explore.Scenario{Actors: 3}, want: verdict.Holds},
		{ttl: 10 * time.Second, scenario: twoActors("crash=1"), want: verdict.Holds},
		{ttl: 10 * time.Second, scenario: actorsIn(3, 0, "crash=1"), want: verdict.Holds},
		{ttl: time.Minute, scenario: explore.Scenario{Actors: 2}, want: verdict.Holds},
		{ttl: time.Minute, scenario: twoActors("crash=1"), want: verdict.Unknown},
	} {
		t.Run(fmt.Sprint(test.ttl, test.scenario), func(t *testing.T) {
			result, err := explore.Explore(t.Context(), lockByRedisTime(test.ttl), test.scenario, explore.Goal{All: true}, explore.Bounds{})
			if err != nil || result.Verdict() != test.want {
				t.Errorf("got %s, %v: %s; want %s", result.Verdict(), err, foundWithin(100, result), test.want)
			}
		})
	}
}

// lockByRedisTime returns a lock whose value is its deadline by Redis's clock.
func lockByRedisTime(ttl time.Duration) strategy.Strategy {
	const take = `local t = redis.call('TIME')
		local now = t[1] * 1000 + math.floor(t[2] / 1000)
		if tonumber(redis.call('GET', KEYS[1]) or 0) > now then return 0 end
		redis.call('SET', KEYS[1], string.format('%.0f', now + ARGV[1]))
		return now + ARGV[1]`
	return polled(func(ctx context.Context, c redis.Cmdable, opts lock.Options, _ string) (unlocker, error) {
		deadline, err := c.Eval(ctx, take, []string{opts.Key}, ttl.Milliseconds()).Int64()
		if err == nil && deadline == 0 {
			err = lock.ErrNotObtained
		}
		return deletes(c, opts, compareAndDelete, fmt.Sprint(deadline)), err
	})
}

// If a waiter sleeps for long although the lock's key is free, Redis does not show whether it has to: Idle is not judged.
func TestIdleIsUnjudgedBesideFreeKey(t *testing.T) {
	for pause, unjudged := range map[time.Duration]bool{2 * time.Second: false, 5 * time.Second: true} {
		t.Run(fmt.Sprint("asks every ", pause), func(t *testing.T) {
			s := locker(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (*lock.Lease, error) {
				return lock.PollAt(ctx, opts, func() time.Duration { return pause }, func() (*lock.Lease, error) {
					return lock.NewLease(ctx, opts.Clock, 0, deletes(c, opts, compareAndDelete, owner)), setNX(ctx, c, opts, owner)
				})
			})
			goal := explore.Goal{Anomalies: []explore.Anomaly{anomaly.Idle}}
			result, err := explore.Explore(t.Context(), s, explore.Scenario{Actors: 2}, goal, explore.Bounds{})
			want := verdict.Holds
			if unjudged {
				want = verdict.Unknown
			}
			if err != nil || result.Verdict() != want || (len(result.Unjudged()) > 0) != unjudged {
				t.Errorf("got %s, %v: unjudged %q, found %s; want %s", result.Verdict(), err, result.Unjudged(), foundWithin(100, result), want)
			}
		})
	}
}

// An actor that tries once, and is refused although nobody else uses the lock, was refused wrongly. After a fault this cannot be judged.
func TestFalseRefusalIsJudgedOnlyWithoutFaults(t *testing.T) {
	forgetful := triedLock(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) error {
		err := setNX(ctx, c, opts, owner)
		if err != nil && !errors.Is(err, lock.ErrNotObtained) {
			err = setNX(ctx, c, opts, owner) // the first attempt may have written the key
		}
		return err
	})
	timid := triedLock(func(context.Context, redis.Cmdable, lock.Options, string) error { return lock.ErrNotObtained })
	for name, test := range map[string]struct {
		strategy strategy.Strategy
		faults   string
		unjudged bool
		found    string
	}{
		"never asks":                    {strategy: timid, found: "[false-word in 1 steps]"},
		"asks":                          {strategy: forgetful, found: "[]"},
		"asks again after a lost reply": {strategy: forgetful, faults: "lost-reply=1", found: "[]", unjudged: true},
	} {
		t.Run(name, func(t *testing.T) {
			in, goal := twoActors(test.faults), explore.Goal{Anomalies: []explore.Anomaly{anomaly.FalseWord}}
			in.Try = 1
			result, err := explore.Explore(t.Context(), test.strategy, in, goal, explore.Bounds{})
			if err != nil || foundWithin(100, result) != test.found || (len(result.Unjudged()) > 0) != test.unjudged {
				t.Errorf("got error %v, %s, unjudged %q; want %s, unjudged: %t",
					err, foundWithin(100, result), result.Unjudged(), test.found, test.unjudged)
			}
		})
	}
}

// triedLock returns a strategy with this TryLock, and a Lock that polls with SET NX.
func triedLock(try func(context.Context, redis.Cmdable, lock.Options, string) error) strategy.Strategy {
	s := locker(nil)
	s.New = func(p strategy.Parts) lock.Locker { return tryLocker{p, try} }
	return s
}

// tryLocker implements lock.Locker with a given TryLock.
type tryLocker struct {
	strategy.Parts
	try func(context.Context, redis.Cmdable, lock.Options, string) error
}

func (l tryLocker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return lock.Poll(ctx, l.Options, func() (*lock.Lease, error) {
		return lock.NewLease(ctx, l.Clock, 0, deletes(l.Client, l.Options, compareAndDelete, owner)), setNX(ctx, l.Client, l.Options, owner)
	})
}

func (l tryLocker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	if err := l.try(ctx, l.Client, l.Options, owner); err != nil {
		return nil, err
	}
	return lock.NewLease(ctx, l.Clock, 0, deletes(l.Client, l.Options, compareAndDelete, owner)), nil
}
