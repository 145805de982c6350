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

// A waiter in lock.Poll's pause is taken to make the same attempt again. One that does not is refused, with its line, whatever may happen,
// and whoever looks.
func TestAWaiterThatDoesNotRepeatItsAttemptIsRefused(t *testing.T) {
	for name, lock := range map[string]strategy.Strategy{
		"goes in at its fourth attempt":                   grantedAt(4),
		"goes in at its twentieth attempt":                grantedAt(20),
		"prolongs the lock that it waits for":             prolongs(),
		"asks for something else at its eleventh attempt": inquisitiveAt(11),
	} {
		for _, scenario := range []explore.Scenario{{Actors: 2}, {Actors: 3}, faultsOfTwo("crash=1"), faultsOfTwo("crash=1,lost-reply=1")} {
			for _, workers := range []int{1, 2} {
				t.Run(fmt.Sprint(name, " ", scenario, " ", workers), func(t *testing.T) {
					goal, bounds := explore.Goal{Anomalies: []explore.Anomaly{anomaly.TwoHolders}}, explore.Bounds{Schedules: 3000, Workers: workers}
					result, err := explore.Explore(t.Context(), lock, scenario, goal, bounds)
					said := fmt.Sprint(err)
					if !errors.Is(err, explore.ErrUndeclaredPoll) || !strings.Contains(said, "polls_test.go:") || !strings.Contains(said, "locktest") {
						t.Errorf("%s, %s, %v; want ErrUndeclaredPoll, the line and locktest", result.Verdict(), upTo(100, result), err)
					}
				})
			}
		}
	}
}

// grantedAt returns a lock that goes in at its nth attempt, whatever it is told.
func grantedAt(n int) strategy.Strategy {
	return locker(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (*lock.Lease, error) {
		asked := 0
		return lock.Poll(ctx, opts, func() (*lock.Lease, error) {
			asked++
			if err := setNX(ctx, c, opts, owner); err != nil && asked < n {
				return nil, err
			}
			return lock.NewLease(ctx, opts.Clock, 0, deletes(c, opts, compareAndDelete, owner)), nil
		})
	})
}

// inquisitiveAt returns a lock that asks who has it at its nth attempt.
func inquisitiveAt(n int) strategy.Strategy {
	return locker(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (*lock.Lease, error) {
		asked := 0
		return lock.Poll(ctx, opts, func() (*lock.Lease, error) {
			if asked++; asked == n {
				c.Get(ctx, opts.Key)
			}
			return lock.NewLease(ctx, opts.Clock, 0, deletes(c, opts, compareAndDelete, owner)), setNX(ctx, c, opts, owner)
		})
	})
}

// prolongs is a lock that those who wait for it keep alive: nobody gets that of a holder that died.
func prolongs() strategy.Strategy {
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

// A right lock whose value says when it expires, by Redis's time, gets free by no key's expiry: who waits for it after a crash is not
// charged with being stuck. If that takes long, nobody knows.
func TestALockByRedissTimeIsNotCharged(t *testing.T) {
	for _, test := range []struct {
		lasts    time.Duration
		scenario explore.Scenario
		want     verdict.Verdict
	}{
		{lasts: 10 * time.Second, scenario: explore.Scenario{Actors: 2}, want: verdict.Holds},
		{lasts: 10 * time.Second, scenario: explore.Scenario{Actors: 3}, want: verdict.Holds},
		{lasts: 10 * time.Second, scenario: faultsOfTwo("crash=1"), want: verdict.Holds},
		{lasts: 10 * time.Second, scenario: of(3, 0, "crash=1"), want: verdict.Holds},
		{lasts: time.Minute, scenario: explore.Scenario{Actors: 2}, want: verdict.Holds},
		{lasts: time.Minute, scenario: faultsOfTwo("crash=1"), want: verdict.Unknown},
	} {
		t.Run(fmt.Sprint(test.lasts, test.scenario), func(t *testing.T) {
			result, err := explore.Explore(t.Context(), byRedissTime(test.lasts), test.scenario, explore.Goal{All: true}, explore.Bounds{})
			if err != nil || result.Verdict() != test.want {
				t.Errorf("%s, %v: %s; want %s", result.Verdict(), err, upTo(100, result), test.want)
			}
		})
	}
}

// byRedissTime is a lock that lasts so long, by a time in its value.
func byRedissTime(lasts time.Duration) strategy.Strategy {
	const take = `local t = redis.call('TIME')
		local now = t[1] * 1000 + math.floor(t[2] / 1000)
		if tonumber(redis.call('GET', KEYS[1]) or 0) > now then return 0 end
		redis.call('SET', KEYS[1], string.format('%.0f', now + ARGV[1]))
		return now + ARGV[1]`
	return polled(func(ctx context.Context, c redis.Cmdable, opts lock.Options, _ string) (unlocker, error) {
		until, err := c.Eval(ctx, take, []string{opts.Key}, lasts.Milliseconds()).Int64()
		if err == nil && until == 0 {
			err = lock.ErrNotObtained
		}
		return deletes(c, opts, compareAndDelete, fmt.Sprint(until)), err
	})
}

// Where somebody sleeps beside a lock whose key is free, nothing in Redis says whether it has to: Idle is not judged.
func TestIdleIsUnjudgedBesideAFreeKey(t *testing.T) {
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
				t.Errorf("%s, %v: unjudged %q, found %s; want %s", result.Verdict(), err, result.Unjudged(), upTo(100, result), want)
			}
		})
	}
}

// One that tries once, meets nobody and is told that another one has the lock was told what is not so; after a fault, who knows.
func TestARefusalIsJudgedWithoutAFault(t *testing.T) {
	forgetful := polledOnce(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) error {
		err := setNX(ctx, c, opts, owner)
		if err != nil && !errors.Is(err, lock.ErrNotObtained) {
			err = setNX(ctx, c, opts, owner) // its own lock may be there already
		}
		return err
	})
	timid := polledOnce(func(context.Context, redis.Cmdable, lock.Options, string) error { return lock.ErrNotObtained })
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
			in, goal := faultsOfTwo(test.faults), explore.Goal{Anomalies: []explore.Anomaly{anomaly.FalseWord}}
			in.Try = 1
			result, err := explore.Explore(t.Context(), test.strategy, in, goal, explore.Bounds{})
			if err != nil || upTo(100, result) != test.found || (len(result.Unjudged()) > 0) != test.unjudged {
				t.Errorf("%v: %s, unjudged %q; want %s, unjudged: %t", err, upTo(100, result), result.Unjudged(), test.found, test.unjudged)
			}
		})
	}
}

// polledOnce makes a strategy of which TryLock is this, and Lock the same as long as it fails.
func polledOnce(try func(context.Context, redis.Cmdable, lock.Options, string) error) strategy.Strategy {
	s := locker(nil)
	s.New = func(p strategy.Parts) lock.Locker { return onceLocker{p, try} }
	return s
}

type onceLocker struct {
	strategy.Parts
	try func(context.Context, redis.Cmdable, lock.Options, string) error
}

func (l onceLocker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return lock.Poll(ctx, l.Options, func() (*lock.Lease, error) {
		return lock.NewLease(ctx, l.Clock, 0, deletes(l.Client, l.Options, compareAndDelete, owner)), setNX(ctx, l.Client, l.Options, owner)
	})
}

func (l onceLocker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	if err := l.try(ctx, l.Client, l.Options, owner); err != nil {
		return nil, err
	}
	return lock.NewLease(ctx, l.Clock, 0, deletes(l.Client, l.Options, compareAndDelete, owner)), nil
}
