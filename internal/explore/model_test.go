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

type unlocker = func(context.Context) error

// attempt is how one of the locks below tries once. It fails with lock.ErrNotObtained, or gives what unlocks.
type attempt func(ctx context.Context, client redis.Cmdable, opts lock.Options, owner string) (unlocker, error)

// polled makes a strategy of an attempt.
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

func setNX(ctx context.Context, client redis.Cmdable, opts lock.Options, owner string) error {
	err := client.SetArgs(ctx, opts.Key, owner, redis.SetArgs{Mode: "NX", TTL: opts.TTL}).Err()
	if errors.Is(err, redis.Nil) {
		return lock.ErrNotObtained
	}
	return err
}

func deletes(client redis.Cmdable, opts lock.Options, script, owner string) func(context.Context) error {
	return func(ctx context.Context) error { return client.Eval(ctx, script, []string{opts.Key}, owner).Err() }
}

const compareAndDelete = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`

// Locks that are right, in ways that the evolution's are not written in.
func TestNothingIsWrongWith(t *testing.T) {
	for name, strategy := range map[string]strategy.Strategy{
		"a try of two commands": polled(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (unlocker, error) {
			err := setNX(ctx, c, opts, owner)
			if errors.Is(err, lock.ErrNotObtained) {
				c.Get(ctx, opts.Key) // to say who has it
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
			for _, scenario := range []explore.Scenario{{Actors: 2}, {Actors: 3}, faultsOfTwo("crash=1"), faultsOfTwo("slow=1")} {
				result, err := explore.Explore(t.Context(), strategy, scenario, explore.Goal{}, bounds(""))
				if err != nil || !shortened(result) && result.Verdict() != verdict.Holds {
					t.Errorf("%s: %s, %v %+v", scenario, result.Verdict(), err, result.Found)
				}
			}
		})
	}
}

// Locks that are wrong, in ways that a shortcut of the explorer could hide.
func TestSomethingIsWrongWith(t *testing.T) {
	late := func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (unlocker, error) {
		return func(ctx context.Context) error {
			if c.Get(ctx, opts.Key).Val() != owner { // or the reply was lost
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
			polled(func(ctx context.Context, c redis.Cmdable, opts lock.Options, _ string) (unlocker, error) {
				const take = `if tonumber(redis.call('GET', KEYS[1]) or 0) <= tonumber(ARGV[1]) then
					return redis.call('SET', KEYS[1], ARGV[2]) end return 0`
				now := opts.Clock.Now()
				reply, err := c.Eval(ctx, take, []string{opts.Key}, now.UnixMilli(), now.Add(opts.TTL).UnixMilli()).Result()
				if err == nil && reply != "OK" {
					err = lock.ErrNotObtained
				}
				return func(ctx context.Context) error { return c.Del(ctx, opts.Key).Err() }, err
			}), explore.Scenario{Actors: 2, Work: 15 * time.Second}, anomaly.TwoHolders,
		},
		"a timer that outlives its sale": {
			polled(late), explore.Scenario{Actors: 2, Work: 3 * time.Second, Faults: explore.Faults{fault.LostReply: 1}}, anomaly.ForeignRelease,
		},
		"a short timer in the background": {
			polled(func(ctx context.Context, c redis.Cmdable, opts lock.Options, owner string) (unlocker, error) {
				err := setNX(ctx, c, opts, owner)
				if err == nil {
					opts.Clock.AfterFunc(10*time.Millisecond, func() { c.Del(context.Background(), opts.Key) })
				}
				return deletes(c, opts, compareAndDelete, owner), err
			}), explore.Scenario{Actors: 2, Work: time.Second}, anomaly.TwoHolders,
		},
	} {
		t.Run(name, func(t *testing.T) {
			goal := explore.Goal{Anomalies: []explore.Anomaly{test.shows}}
			result, err := explore.Explore(t.Context(), test.strategy, test.scenario, goal, bounds(test.shows))
			if err == nil && shortened(result) {
				return
			}
			if err != nil || result.Verdict() != verdict.Broken {
				t.Fatalf("%s, %v; want %s", result.Verdict(), err, test.shows)
			}
			replayed(t, test.strategy, test.scenario, result.Found[0], 3)
		})
	}
}

// A lock that moves behind the explorer's back is told so.
func TestALockThatMovesInNew(t *testing.T) {
	for name, moves := range map[string]func(strategy.Parts){
		"a command":   func(p strategy.Parts) { p.Client.Ping(context.Background()) },
		"a goroutine": func(p strategy.Parts) { p.Clock.Go("nothing", func() {}) },
		"listening":   func(p strategy.Parts) { p.Notifier.Subscribe("channel", func(string) {}) },
		"a wait": func(p strategy.Parts) {
			_ = lock.Sleep(context.Background(), p.Clock, time.Second)
		},
	} {
		mine := locker(func(ctx context.Context, _ redis.Cmdable, opts lock.Options, _ string) (*lock.Lease, error) {
			return nothingHeld(ctx, opts)
		})
		inner := mine.New
		mine.New = func(p strategy.Parts) lock.Locker {
			moves(p)
			return inner(p)
		}
		_, err := explore.Explore(t.Context(), mine, explore.Scenario{Actors: 1}, explore.Goal{}, explore.Bounds{})
		if !errors.Is(err, explore.ErrBlind) {
			t.Errorf("%s: %v; want ErrBlind", name, err)
		}
	}
}
