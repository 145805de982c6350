package locktest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/locktest"
)

// A process that crashes does nothing more, and the next one gets the lock when it has expired.
func TestCrashedHolderLosesLockToNext(t *testing.T) {
	schedule := "A:Lock A:SET B:Lock B:SET A:crash" + strings.Repeat(" time B:SET", 10)
	lock := newToy(polled(lockByOwner(compareAndDelete, true)), nil)
	again, err := locktest.Show(t, newConfig("crash=1"), schedule, lock, "")
	if err != nil || len(again.Found) > 0 || !strings.Contains(again.Drawing, "[lock: B, for 1s]") {
		t.Errorf("%+v, %v", again, err)
	}
}

// A schedule with an impossible step is refused with an error that names the step.
func TestShowNamesImpossibleStep(t *testing.T) {
	_, err := locktest.Show(t, newConfig(""), "A:Lock A:DEL", newToy(tryOnce, remove), "")
	if err == nil || !strings.Contains(err.Error(), "step 2, A:DEL: the schedule does not fit; possible steps: [B:Lock A:SET]") {
		t.Errorf("%v; want it to name step 2", err)
	}
}

// A search with an endless poller ends, because states that repeat are not explored again.
func TestEndlessPollingIsExploredCompletely(t *testing.T) {
	result, err := locktest.Search(t, newConfig("crash=1", locktest.TwoHolders), newToy(polled(lockInHash), nil))
	if err != nil || !result.Complete || result.Depth > 100 {
		t.Errorf("%+v, %v; want it complete", result, err)
	}
}

// States that differ only in random values count as one, wherever the values are.
func TestRandomValuesDoNotMultiplyStates(t *testing.T) {
	states := map[string]int{}
	for name, lock := range map[string]open{"a constant": newToy(lockWithValue("1"), nil), "a random value": newToy(lockWithValue(""), nil)} {
		result, err := locktest.Search(t, newConfig("lost-reply=1", locktest.TwoHolders), lock)
		if err != nil || !result.Complete {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
		states[name] = result.States
	}
	if states["a constant"] != states["a random value"] {
		t.Errorf("states: %v; want equal numbers", states)
	}
}

// The writer of a value that names no owner is part of the state: A's release removes B's lock only if B wrote last.
func TestWriterOfLockIsPartOfState(t *testing.T) {
	lock := func(p locktest.Process) (locktest.Lock, error) {
		y := &toy{newClient(p, 0), func(ctx context.Context, y *toy) (locktest.Held, error) {
			return y, y.Set(ctx, key, "1", ttl).Err()
		}, remove}
		if p.Name == "B" {
			y.unlock = nothing
		}
		return y, nil
	}
	const want = "A:Lock B:Lock B:SET A:SET A:Unlock A:DEL"
	result, err := locktest.Search(t, newConfig("", locktest.ForeignRelease), lock)
	if err != nil || len(result.Found) != 1 || result.Found[0].Schedule != want {
		t.Errorf("%+v, %v; want %s", result, err, want)
	}
}

// A client may look up the name of its host in each run.
func TestClientMayResolveHostName(t *testing.T) {
	result, err := locktest.Search(t, newConfig("", locktest.LeftBehind), func(p locktest.Process) (locktest.Lock, error) {
		c := redis.NewClient(&redis.Options{Addr: "localhost:6379", Dialer: p.Dial, MaxRetries: -1})
		p.Cleanup(func() { _ = c.Close() })
		return &toy{c, tryOnce, nothing}, nil
	})
	if err != nil || len(result.Found) != 1 {
		t.Errorf("%+v, %v", result, err)
	}
}

// lockWithValue takes a lock in a field of a hash, with a given value; "": a random one.
func lockWithValue(value string) lockFunc {
	return func(ctx context.Context, y *toy) (locktest.Held, error) {
		owner := value
		if owner == "" {
			owner = fmt.Sprintf("%x", time.Now().UnixNano()) + random()
		}
		took, err := y.HSetNX(ctx, key, "owner", owner).Result()
		if err == nil && !took {
			err = errTaken
		}
		return held{release: func(ctx context.Context) error { return y.HDel(ctx, key, "owner").Err() }}, err
	}
}

// A search that could not explore everything, or saw nothing of a lock, returns the reason.
func TestIncompleteOrVacuousSearchSaysWhy(t *testing.T) {
	right := lockByOwner(compareAndDelete, true)
	for name, c := range map[string]struct {
		change func(*locktest.Config)
		lock   open
		wants  string
	}{
		"the runs are used up": {func(c *locktest.Config) { c.Runs = 20 }, newToy(polled(right), nil), "Config.Runs (20) is used up"},
		"the time is over":     {func(c *locktest.Config) { c.Time = time.Nanosecond }, newToy(polled(right), nil), "Config.Time (1ns) is over"},
		"a random pause": {func(*locktest.Config) {}, newToy(func(ctx context.Context, y *toy) (locktest.Held, error) {
			time.Sleep(randomPause())
			return right(ctx, y)
		}, nil), "could not be repeated in 40 attempts"},
		"another key": {func(c *locktest.Config) { c.Key = "another" }, newToy(right, nil), `nothing has ever written the key "another"`},
		"no success": {func(*locktest.Config) {}, newToy(func(context.Context, *toy) (locktest.Held, error) {
			return nil, errTaken
		}, nil), "no call of Lock has ever succeeded"},
		"a command that is unknown": {func(*locktest.Config) {}, newToy(func(ctx context.Context, y *toy) (locktest.Held, error) {
			return y, y.BLPop(ctx, 0, key).Err()
		}, nil), "BLPOP"},
		"no lock and no error": {func(*locktest.Config) {}, newToy(func(context.Context, *toy) (locktest.Held, error) {
			return nil, nil //nolint:nilnil // that is the fault
		}, nil), "Lock returns neither a lock nor an error"},
		"it cannot be opened": {func(*locktest.Config) {}, func(locktest.Process) (locktest.Lock, error) {
			return nil, errTaken
		}, "the lock of A cannot be opened: taken"},
		"another database": {func(*locktest.Config) {}, func(p locktest.Process) (locktest.Lock, error) {
			c := redis.NewClient(&redis.Options{Addr: p.Addr(0), Dialer: p.Dial, MaxRetries: -1, DB: 3})
			p.Cleanup(func() { _ = c.Close() })
			return &toy{c, tryOnce, remove}, nil
		}, "SELECT: there is one database, 0"},
		"an address that is none": {func(c *locktest.Config) { c.Nodes = 3 }, func(p locktest.Process) (locktest.Lock, error) {
			_, err := p.Dial(context.Background(), "tcp", "redis:6379")
			return nil, err
		}, "there is no node redis:6379: the addresses are 127.0.0.1:6379 to 127.0.0.1:6381"},
		"no key":          {func(c *locktest.Config) { c.Key = "" }, nil, "Config.Key is empty"},
		"many actors":     {func(c *locktest.Config) { c.Actors = 9 }, nil, "Config.Actors: 9; it takes 1 to 4"},
		"another fault":   {func(c *locktest.Config) { c.Faults = "lost=1" }, nil, `there is no "lost"; there are slow, lost-reply`},
		"a fault twice":   {func(c *locktest.Config) { c.Faults = "slow=1,slow=2" }, nil, "slow is given twice"},
		"how often":       {func(c *locktest.Config) { c.Faults = "slow" }, nil, `"slow"; it takes NAME=TIMES`},
		"what is allowed": {func(c *locktest.Config) { c.Allow = []locktest.Anomaly{"race"} }, nil, `there is no anomaly "race"`},
	} {
		t.Run(name, func(t *testing.T) {
			config := newConfig("")
			c.change(&config)
			result, err := locktest.Search(t, config, c.lock)
			if said := fmt.Sprint(result.Incomplete, result.Vacuous, err); !strings.Contains(said, c.wants) || len(result.Found) > 0 {
				t.Errorf("search returned %s, found %v; want %q", said, result.Found, c.wants)
			}
		})
	}
}

// A leaked goroutine is named by the function and the line that started it.
func TestGoroutineLeakNamesItsStarter(t *testing.T) {
	leaks := newToy(func(ctx context.Context, y *toy) (locktest.Held, error) {
		go blockForever()
		return tryOnce(ctx, y)
	}, remove)
	result, err := locktest.Search(t, newConfig("", locktest.GoroutineLeak), leaks)
	if err != nil || len(result.Found) != 1 {
		t.Fatalf("%+v, %v; want a leak", result, err)
	}
	for _, part := range []string{
		"locktest_test.TestGoroutineLeakNamesItsStarter.func1 started it (locktest_test.go:", "in select (no cases)",
	} {
		if !strings.Contains(result.Found[0].Says, part) {
			t.Errorf("Says is %q; want %q", result.Found[0].Says, part)
		}
	}
}

func blockForever() { select {} }

// In a parallel test, Search returns an error instead of the panic of package testing.
func TestParallelTestIsRefused(t *testing.T) {
	t.Run("parallel", func(t *testing.T) {
		t.Parallel()
		if _, err := locktest.Search(t, newConfig(""), newToy(tryOnce, remove)); err == nil || !strings.Contains(err.Error(), "t.Parallel") {
			t.Errorf("error %v; want one that names t.Parallel", err)
		}
	})
}

// With Config.Depth, exploring schedules of up to that many steps is enough.
func TestDepthBoundsSearch(t *testing.T) {
	c := newConfig("slow=1")
	c.Depth = 3
	result, err := locktest.Search(t, c, newToy(polled(lockByOwner(compareAndDelete, true)), nil))
	if err != nil || result.Complete || result.Incomplete != "" || result.Depth != 3 {
		t.Errorf("%+v, %v", result, err)
	}
}

// A lock whose context has ended has told its holder of the loss.
func TestEndedLeaseContextReportsLoss(t *testing.T) {
	lock := newToy(polled(func(ctx context.Context, y *toy) (locktest.Held, error) {
		h, err := lockByOwner(compareAndDelete, true)(ctx, y)
		if err != nil {
			return nil, err
		}
		ends, cancel := context.WithTimeout(context.Background(), ttl)
		return leaseWithContext{h, ends, cancel}, nil
	}), nil)
	result, err := locktest.Search(t, newConfig("slow=1"), lock)
	if err != nil || !result.Complete || len(result.Found) > 0 {
		t.Errorf("%+v, %v", result, err)
	}
}

// leaseWithContext is a lock whose context ends when it expires.
type leaseWithContext struct {
	locktest.Held
	ctx    context.Context //nolint:containedctx // what the test is about
	cancel func()
}

func (h leaseWithContext) Context() context.Context { return h.ctx }

func (h leaseWithContext) Unlock(ctx context.Context) error {
	h.cancel()
	return h.Held.Unlock(ctx)
}

// If a lock has TryLock, it is explored beside Lock.
func TestTryLockIsExplored(t *testing.T) {
	lock := func(p locktest.Process) (locktest.Lock, error) {
		return brokenTryLock{&toy{newClient(p, 0), polled(lockByOwner(compareAndDelete, true)), nil}}, nil
	}
	result, err := locktest.Search(t, newConfig("", locktest.TwoHolders), lock)
	if err != nil || len(result.Found) != 1 || result.Found[0].Schedule != "A:TryLock B:TryLock" {
		t.Errorf("%+v, %v; want two holders, by TryLock", result, err)
	}
}

// brokenTryLock is a lock whose TryLock always succeeds.
type brokenTryLock struct{ *toy }

func (y brokenTryLock) TryLock(context.Context) (locktest.Held, error) {
	return held{release: func(context.Context) error { return nil }}, nil
}

// With Together, several actors of one process share one lock.
func TestTogetherSharesLockInProcess(t *testing.T) {
	c := newConfig("", locktest.TwoHolders)
	c.Actors, c.Together = 3, true
	shared := func(p locktest.Process) (locktest.Lock, error) { // the value names only the process
		y := &toy{Client: newClient(p, 0)}
		y.lock = func(ctx context.Context, _ *toy) (locktest.Held, error) {
			err := y.set(ctx, p.Name)
			if errors.Is(err, errTaken) && y.Get(ctx, key).Val() == p.Name {
				err = nil
			}
			return held{release: func(ctx context.Context) error { return remove(ctx, y) }}, err
		}
		return y, nil
	}
	result, err := locktest.Search(t, c, shared)
	if err != nil || len(result.Found) != 1 || result.Found[0].Says != "B and C are both in the critical section" {
		t.Errorf("%+v, %v", result, err)
	}
}

// Each run starts with the same time and the same values of crypto/rand.
func TestRunsStartWithSameClockAndRandom(t *testing.T) {
	var texts []string
	_, err := locktest.Search(t, newConfig(""), newToy(func(ctx context.Context, y *toy) (locktest.Held, error) {
		texts = append(texts, random()+time.Now().String())
		return tryOnce(ctx, y)
	}, remove))
	if err != nil || len(texts) < 3 || texts[0] != texts[1] {
		t.Errorf("%v, %v", texts, err)
	}
	synctest.Test(t, func(*testing.T) {}) // the test can continue afterwards
}
