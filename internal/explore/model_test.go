package explore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/explore/fault"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
	"lockstep/internal/verdict"
)

// unlocker releases a lock.
type unlocker = func(context.Context) error

// attempt is a single attempt to obtain a lock. It returns the function that releases the lock, or fails with lock.ErrNotObtained.
type attempt func(ctx context.Context, client redis.Cmdable, opts lock.Options, owner string) (unlocker, error)

// polled returns a strategy that repeats an attempt by lock.Poll.
func polled(try attempt) strategy.Strategy {
	return locker(func(ctx context.Context, client redis.Cmdable, opts lock.Options, owner string) (*lock.Lease, error) {
		return lock.Poll(ctx, opts, func() (*lock.Lease, error) {
			unlock, err := try(ctx, client, opts, owner)
			if err != nil {
				return nil, err
			}
			return lock.NewLease(ctx, opts.Clock, 0, unlock), nil
		})
	})
}

// setNX sets the lock's key to the owner, if the key does not exist.
func setNX(ctx context.Context, client redis.Cmdable, opts lock.Options, owner string) error {
	err := client.SetArgs(ctx, opts.Key, owner, redis.SetArgs{Mode: "NX", TTL: opts.TTL}).Err()
	if errors.Is(err, redis.Nil) {
		return lock.ErrNotObtained
	}
	return err
}

// deletes returns an unlocker that runs a script.
func deletes(client redis.Cmdable, opts lock.Options, script, owner string) func(context.Context) error {
	return func(ctx context.Context) error { return client.Eval(ctx, script, []string{opts.Key}, owner).Err() }
}

// compareAndDelete deletes the lock's key if its value is the owner.
const compareAndDelete = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`

// Correct locks show no anomaly, even if they are written differently from those of the evolution.
func TestCorrectLockHasNoAnomaly(t *testing.T) {
	for name, strategy := range map[string]strategy.Strategy{
		"a try of two commands": polled(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (unlocker, error) {
			err := setNX(ctx, c, opts, owner)
			if errors.Is(err, lock.ErrNotObtained) {
				c.Get(ctx, opts.Key) // an error message may name the holder
			}
			return deletes(c, opts, compareAndDelete, owner), err
		}),
		"a short sleep before": polled(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (unlocker, error) {
			if err := lock.Sleep(ctx, opts.Clock, 5*time.Millisecond); err != nil {
				return nil, err
			}
			return deletes(c, opts, compareAndDelete, owner), setNX(ctx, c, opts, owner)
		}),
		"a short sleep after": polled(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (unlocker, error) {
			err := setNX(ctx, c, opts, owner)
			if err == nil {
				err = lock.Sleep(ctx, opts.Clock, 5*time.Millisecond)
			}
			return deletes(c, opts, compareAndDelete, owner), err
		}),
		"scripts by their hash": polled(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (unlocker, error) {
			return func(ctx context.Context) error {
				return redis.NewScript(compareAndDelete).Run(ctx, c, []string{opts.Key}, owner).Err()
			}, setNX(ctx, c, opts, owner)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			for _, scenario := range []explore.Scenario{{Actors: 2}, {Actors: 3}, twoActors("crash=1"), twoActors("slow=1")} {
				result, err := explore.Explore(t.Context(), strategy, scenario, explore.Goal{}, suiteBounds(""))
				if err != nil || !isEndedByBound(result) && result.Verdict() != verdict.Holds {
					t.Errorf("%s: got %s, error %v, found %+v; want it to hold", scenario, result.Verdict(), err, result.Found)
				}
			}
		})
	}
}

// The explorer finds the flaws of broken locks that an unsound reduction would hide.
func TestBrokenLockShowsItsAnomaly(t *testing.T) {
	lateDelete := func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (unlocker, error) {
		return func(ctx context.Context) error {
			if c.Get(ctx, opts.Key).Val() != owner { // true also if the reply was lost
				opts.Clock.AfterFunc(time.Second, func() { c.Del(context.Background(), opts.Key) })
			}
			return c.Del(ctx, opts.Key).Err()
		}, setNX(ctx, c, opts, owner)
	}
	for name, test := range map[string]struct {
		strategy strategy.Strategy
		scenario explore.Scenario
		shows    explore.Anomaly
	}{
		"an expiry in the value, by the caller's clock": {
			strategy: polled(func(ctx context.Context, c redis.Cmdable, opts lock.Options, _ string) (unlocker, error) {
				const take = `if tonumber(redis.call('GET', KEYS[1]) or 0) <= tonumber(ARGV[1]) then
					return redis.call('SET', KEYS[1], ARGV[2]) end return 0`
				now := opts.Clock.Now()
				reply, err := c.Eval(ctx, take, []string{opts.Key}, now.UnixMilli(), now.Add(opts.TTL).UnixMilli()).Result()
				if err == nil && reply != "OK" {
					err = lock.ErrNotObtained
				}
				return func(ctx context.Context) error { return c.Del(ctx, opts.Key).Err() }, err
			}),
			scenario: explore.Scenario{Actors: 2, Work: 15 * time.Second}, shows: anomaly.TwoHolders,
		},
		"a timer that outlives its sale": {
			strategy: polled(lateDelete), shows: anomaly.ForeignRelease,
			scenario: explore.Scenario{Actors: 2, Work: 3 * time.Second, Faults: explore.Faults{fault.LostReply: 1}},
		},
		"a short timer in the background": {
			strategy: polled(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (unlocker, error) {
				err := setNX(ctx, c, opts, owner)
				if err == nil {
					opts.Clock.AfterFunc(10*time.Millisecond, func() { c.Del(context.Background(), opts.Key) })
				}
				return deletes(c, opts, compareAndDelete, owner), err
			}),
			scenario: explore.Scenario{Actors: 2, Work: time.Second}, shows: anomaly.TwoHolders,
		},
	} {
		t.Run(name, func(t *testing.T) {
			goal := explore.Goal{Anomalies: []explore.Anomaly{test.shows}}
			result, err := explore.Explore(t.Context(), test.strategy, test.scenario, goal, suiteBounds(test.shows))
			if err == nil && isEndedByBound(result) {
				return
			}
			if err != nil || result.Verdict() != verdict.Broken {
				t.Fatalf("got %s, %v; want %s", result.Verdict(), err, test.shows)
			}
			checkReplays(t, test.strategy, test.scenario, result.Found[0], 3)
		})
	}
}

// A strategy whose New sends commands, starts goroutines or waits is refused.
func TestActivityInNewIsErrBlind(t *testing.T) {
	for name, act := range map[string]func(strategy.Parts){
		"a command":   func(p strategy.Parts) { p.Client.Ping(context.Background()) },
		"a goroutine": func(p strategy.Parts) { p.Clock.Go("nothing", func() {}) },
		"a listener":  func(p strategy.Parts) { p.Notifier.Subscribe("channel", func(string) {}) },
		"a wait": func(p strategy.Parts) {
			_ = lock.Sleep(context.Background(), p.Clock, time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := locker(func(ctx context.Context, _ redis.Cmdable, opts lock.Options, _ string) (*lock.Lease, error) {
				return nothingHeld(ctx, opts)
			})
			newLocker := s.New
			s.New = func(p strategy.Parts) lock.Locker {
				act(p)
				return newLocker(p)
			}
			_, err := explore.Explore(t.Context(), s, explore.Scenario{Actors: 1}, explore.Goal{}, explore.Bounds{})
			if !errors.Is(err, explore.ErrBlind) {
				t.Errorf("got %v; want ErrBlind", err)
			}
		})
	}
}
