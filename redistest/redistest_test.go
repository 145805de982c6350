package redistest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/redistest"
)

// increment increments n, and returns the error.
func increment(ctx context.Context, client *redis.Client) error { return client.Incr(ctx, "n").Err() }

// A check receives each actor's outcome: succeeded, failed, or in doubt.
func TestCheckReceivesOutcomeOfEachActor(t *testing.T) {
	for name, row := range map[string]struct {
		faults string
		do     func(context.Context, *redis.Client) error
		want   string // outcomes and value of the key that some schedule must lead to
	}{
		"all is well":      {"", increment, "succeeded=2 n=2"},
		"refused":          {"", func(ctx context.Context, c *redis.Client) error { return errors.Join(increment(ctx, c), errRefused) }, ""},
		"lost reply":       {"lost-reply=1", increment, "in doubt=1 succeeded=1 n=2"},
		"lost request":     {"lost-request=1", increment, "in doubt=1 succeeded=1 n=1"},
		"crash":            {"crash=1", increment, "in doubt=1 succeeded=1 n=1"},
		"asked once more":  {"lost-reply=1", twice(increment), "succeeded=2 n=3"},
		"arrives too late": {"slow=1,late=1", increment, "in doubt=1 succeeded=1 n=2"}, // the client's timeout is three seconds
		"never arrives":    {"slow=1", increment, "in doubt=1 succeeded=1 n=1"},
	} {
		t.Run(name, func(t *testing.T) {
			seen := map[string]bool{}
			r, err := redistest.Search(t, redistest.Config{Faults: row.faults}, redistest.System{
				Actor: newActor(row.do),
				Check: func(e redistest.End) error {
					var counts []string
					for _, o := range []struct {
						name string
						n    int
					}{{"failed", e.Failed()}, {"in doubt", e.InDoubt()}, {"succeeded", e.Succeeded()}} {
						if o.n > 0 {
							counts = append(counts, fmt.Sprintf("%s=%d", o.name, o.n))
						}
					}
					seen[strings.Join(append(counts, fmt.Sprintf("n=%d", e.Redis.Int("n"))), " ")] = true
					return nil
				},
			})
			if err != nil || !r.Complete || len(r.Found) > 0 {
				t.Errorf("%+v, %v", r, err)
			}
			const nothing = "no actor has ever succeeded; the first error: refused"
			if row.want == "" && r.Vacuous != nothing || row.want != "" && !seen[row.want] {
				t.Errorf("the ends are %v, %q; want %q", seen, r.Vacuous, row.want)
			}
		})
	}
}

func twice(do func(context.Context, *redis.Client) error) func(context.Context, *redis.Client) error {
	return func(ctx context.Context, c *redis.Client) (err error) {
		if err = do(ctx, c); err != nil {
			err = do(ctx, c)
		}
		return err
	}
}

// Some anomalies are found whatever the check is. A check with Always also sees violations that are gone at the end.
func TestFindingsBesideCheck(t *testing.T) {
	sleepsForEver := func(ctx context.Context, c *redis.Client) error {
		if c.SetNX(ctx, "k", 1, 0).Val() {
			return nil
		}
		<-ctx.Done()
		return nil
	}
	for name, row := range map[string]struct {
		system redistest.System
		want   redistest.Anomaly
		steps  int
	}{
		"one waits for nothing": {redistest.System{Actor: newActor(sleepsForEver)}, redistest.Stuck, 4},
		"one asks forever": {redistest.System{Actor: newActor(func(ctx context.Context, c *redis.Client) error {
			return poll(ctx, c, "1", 0)
		})}, redistest.Stuck, 2},
		"one asks without a pause": {redistest.System{Actor: newActor(func(ctx context.Context, c *redis.Client) error {
			took := false
			for !took && ctx.Err() == nil {
				took = c.SetNX(ctx, "k", 1, 0).Val()
			}
			return nil
		})}, redistest.Busy, 3},
		"a goroutine is left": {redistest.System{Actor: newActor(func(ctx context.Context, c *redis.Client) error {
			go func() { <-make(chan int) }()
			return increment(ctx, c)
		})}, redistest.GoroutineLeak, 2},
		"two at once": {redistest.System{
			Actor: newActor(func(ctx context.Context, c *redis.Client) error {
				return errors.Join(increment(ctx, c), c.Decr(ctx, "n").Err())
			}),
			Always: func(e redistest.End) error {
				if e.Redis.Int("n") > 1 {
					return errors.New("two are inside")
				}
				return nil
			},
		}, redistest.AlwaysFails, 4},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := redistest.Search(t, redistest.Config{}, row.system)
			if err != nil || len(r.Found) != 1 || r.Found[0].Anomaly != row.want || r.Found[0].Steps() != row.steps {
				t.Fatalf("%+v, %v; want %s in %d steps", r, err, row.want, row.steps)
			}
			again, err := redistest.Show(t, redistest.Config{}, r.Found[0].Schedule, row.system, "")
			if err != nil || len(again.Found) != 1 || !strings.Contains(again.Drawing, r.Found[0].Says) {
				t.Errorf("again it shows %+v, %v", again, err)
			}
		})
	}
}

// A consumer that waits for a message is not stuck as long as the producer has not started.
func TestConsumerIsNotStuckBeforeProducerStarts(t *testing.T) {
	system := redistest.System{
		Kinds: []redistest.Kind{
			{Name: "consumer", N: 2, Actor: newActor(func(ctx context.Context, c *redis.Client) error {
				for {
					switch _, err := c.LPop(ctx, "messages").Result(); {
					case err == nil:
						return nil
					case !errors.Is(err, redis.Nil):
						return err
					}
					time.Sleep(time.Second)
				}
			})},
			{Name: "producer", Actor: newActor(func(ctx context.Context, c *redis.Client) error {
				return c.RPush(ctx, "messages", "one", "two").Err()
			})},
		},
		Check: func(e redistest.End) error {
			if e.Succeeded("consumer") != 2 || e.Succeeded("producer") != 1 || e.Actors[1].Actor != "consumerB" || e.Redis.Exists("messages") {
				return fmt.Errorf("%+v", e.Actors)
			}
			return nil
		},
	}
	r, err := redistest.Search(t, redistest.Config{}, system)
	if err != nil || !r.Complete || r.Vacuous != "" || len(r.Found) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Values that were set up stay as they are even if they look random, and so do values that a check reads.
func TestRandomLookingValuesAreKept(t *testing.T) {
	const token = "0123456789abcdef0123456789abcdef"
	r, err := redistest.Search(t, redistest.Config{}, redistest.System{
		Setup: setInitially("token", token),
		Actor: newActor(func(ctx context.Context, c *redis.Client) error {
			text, err := c.Get(ctx, "token").Result()
			if text != token {
				return fmt.Errorf("the token is %q", text)
			}
			return errors.Join(err, c.HSet(ctx, "orders:"+token, "f47ac10b-58cc-4372-a567-0e02b2c3d479", token).Err())
		}),
		Check: func(e redistest.End) error {
			got := e.Redis.Do("HGETALL", "orders:"+token)
			if want := []any{"f47ac10b-58cc-4372-a567-0e02b2c3d479", token}; e.Succeeded() != 2 || fmt.Sprint(got) != fmt.Sprint(want) {
				return fmt.Errorf("%+v, and the orders are %v", e.Actors, got)
			}
			return nil
		},
	})
	if err != nil || len(r.Found) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A search that could not explore everything, or saw nothing, returns the reason. What never happened is named.
func TestIncompleteOrVacuousSearchSaysWhy(t *testing.T) {
	fine := redistest.System{Actor: newActor(increment)}
	for name, row := range map[string]struct {
		config redistest.Config
		system redistest.System
		want   string
	}{
		"the runs are used up": {redistest.Config{Runs: 3}, fine, "Config.Runs (3) is used up"},
		"the time is over":     {redistest.Config{Time: time.Nanosecond}, fine, "Config.Time (1ns) is over"},
		"nothing is sent": {redistest.Config{}, redistest.System{Actor: newActor(func(context.Context, *redis.Client) error {
			return nil
		})}, "no process has ever sent a command"},
		"nobody succeeds": {redistest.Config{}, redistest.System{Actor: newActor(func(ctx context.Context, c *redis.Client) error {
			return c.LPush(ctx, "n", 1).Err()
		}), Setup: setInitially("n", 1)}, "no actor has ever succeeded"},
		"a command of the set-up": {
			redistest.Config{}, redistest.System{Actor: fine.Actor, Setup: func(r redistest.Redis) { r.Do("INCRBY", "n", "x") }},
			"ERR value is not an integer or out of range",
		},
		"a number that is none": {redistest.Config{}, redistest.System{
			Actor: fine.Actor, Setup: setInitially("text", "x"),
			Check: func(e redistest.End) error { _ = e.Redis.Int("text"); return nil },
		}, `GET text: "x" is not a number`},
		"an unknown command": {redistest.Config{}, redistest.System{Actor: newActor(func(ctx context.Context, c *redis.Client) error {
			return c.BLPop(ctx, 0, "n").Err()
		})}, "BLPOP"},
		"it cannot be opened": {redistest.Config{}, redistest.System{
			Actor: func(redistest.Process) (func(context.Context) error, error) { return nil, errRefused },
		}, "the process A cannot be opened: refused"},
		"it does nothing": {redistest.Config{}, redistest.System{
			Actor: func(redistest.Process) (func(context.Context) error, error) { return nil, nil },
		}, "returned a nil function"},
		"no actor":        {redistest.Config{}, redistest.System{}, "System.Actor is nil"},
		"actor and kinds": {redistest.Config{}, redistest.System{Actor: fine.Actor, Kinds: []redistest.Kind{{}}}, "set only one of them"},
		"a number of kinds": {
			redistest.Config{Actors: 3}, redistest.System{Kinds: []redistest.Kind{{Name: "x", Actor: fine.Actor}}}, "set N of each Kind instead",
		},
		"a name": {
			redistest.Config{}, redistest.System{Kinds: []redistest.Kind{{Name: "A1", Actor: fine.Actor}}}, `"A1"; it takes letters`,
		},
		"many actors":   {redistest.Config{Actors: 5}, fine, "there are 5 actors; the search takes 1 to 4"},
		"another fault": {redistest.Config{Faults: "pause=1"}, fine, `there is no "pause"; there are slow, lost-reply`},
		"what is allowed": {
			redistest.Config{Allow: []redistest.Anomaly{"race"}}, fine, `there is no anomaly "race"; there are [check always stuck`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := redistest.Search(t, row.config, row.system)
			if said := fmt.Sprint(r.Incomplete, r.Vacuous, err); !strings.Contains(said, row.want) || len(r.Found) > 0 {
				t.Errorf("it says %s, and finds %+v; want %q", said, r.Found, row.want)
			}
		})
	}
}

// The drawing says when a key expires, because that often explains what follows.
func TestDrawingShowsExpiry(t *testing.T) {
	system := redistest.System{Actor: newActor(func(ctx context.Context, c *redis.Client) error {
		for { // until the other's key has expired
			if took, err := c.SetNX(ctx, "k", 1, time.Second).Result(); took || err != nil {
				return err
			}
			time.Sleep(100 * time.Millisecond)
		}
	})}
	result, err := redistest.Search(t, redistest.Config{}, system)
	if err != nil || len(result.Found) > 0 {
		t.Fatalf("%+v, %v; want nothing", result, err)
	}
	const schedule = "A:start A:SET B:start B:SET time B:SET time B:SET time B:SET time B:SET time B:SET time B:SET time B:SET time B:SET time"
	shown, err := redistest.Show(t, redistest.Config{}, schedule+" B:SET time", system, "")
	if err != nil || !strings.Contains(shown.Drawing, "k expires") {
		t.Errorf("%v\n%s\nwant that k expires", err, shown.Drawing)
	}
}
