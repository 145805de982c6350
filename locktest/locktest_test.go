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

// A process that crashes does nothing more, and the next one gets its lock when that has expired.
func TestACrash(t *testing.T) {
	schedule := "A:Lock A:SET B:Lock B:SET A:crash" + strings.Repeat(" time B:SET", 10)
	lock := made(polled(takenBy(compareAndDelete, true)), nil)
	again, err := locktest.Show(t, config("crash=1"), schedule, lock, "")
	if err != nil || len(again.Found) > 0 || !strings.Contains(again.Drawing, "[lock: B, for 1s]") {
		t.Errorf("%+v, %v", again, err)
	}
}

// A schedule with a step that cannot happen is refused, and says which step.
func TestAScheduleThatDoesNotFit(t *testing.T) {
	_, err := locktest.Show(t, config(""), "A:Lock A:DEL", made(tryOnce, remove), "")
	if err == nil || !strings.Contains(err.Error(), "step 2, A:DEL: the schedule does not fit: there are [B:Lock A:SET]") {
		t.Errorf("%v; want it to name step 2", err)
	}
}

// A poller that waits for ever is looked at to the end: what it has done so often is not done once more.
func TestPollingEnds(t *testing.T) {
	result, err := locktest.Search(t, config("crash=1", locktest.TwoHolders), made(polled(ofHash), nil))
	if err != nil || !result.Complete || result.Depth > 100 {
		t.Errorf("%+v, %v; want it complete", result, err)
	}
}

// States that differ by random values alone are one, wherever the values stand.
func TestRandomValuesMakeNoStates(t *testing.T) {
	states := map[string]int{}
	for name, lock := range map[string]open{"a constant": made(withValue("1"), nil), "a random value": made(withValue(""), nil)} {
		result, err := locktest.Search(t, config("lost-reply=1", locktest.TwoHolders), lock)
		if err != nil || !result.Complete {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
		states[name] = result.States
	}
	if states["a constant"] != states["a random value"] {
		t.Errorf("states: %v; want as many", states)
	}
}

// Who wrote a lock whose value says nothing is part of a state: only if B was first does A's release remove B's lock.
func TestWhoWroteTheLockMakesAState(t *testing.T) {
	lock := func(p locktest.Process) (locktest.Lock, error) {
		y := &toy{client(p, 0), func(ctx context.Context, y *toy) (locktest.Held, error) {
			return y, y.Set(ctx, key, "1", ttl).Err()
		}, remove}
		if p.Name == "B" {
			y.unlock = nothing
		}
		return y, nil
	}
	const want = "A:Lock B:Lock B:SET A:SET A:Unlock A:DEL"
	result, err := locktest.Search(t, config("", locktest.ForeignRelease), lock)
	if err != nil || len(result.Found) != 1 || result.Found[0].Schedule != want {
		t.Errorf("%+v, %v; want %s", result, err, want)
	}
}

// A client may look up the name of its host: in each run.
func TestAHostByItsName(t *testing.T) {
	result, err := locktest.Search(t, config("", locktest.LeftBehind), func(p locktest.Process) (locktest.Lock, error) {
		c := redis.NewClient(&redis.Options{Addr: "localhost:6379", Dialer: p.Dial, MaxRetries: -1})
		p.Cleanup(func() { _ = c.Close() })
		return &toy{c, tryOnce, nothing}, nil
	})
	if err != nil || len(result.Found) != 1 {
		t.Errorf("%+v, %v", result, err)
	}
}

// withValue takes a lock in a field of a hash: by a value that is random if it is "".
func withValue(value string) locks {
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

// A search that could not look at everything, or saw nothing of a lock, says so.
func TestNothingPassesSilently(t *testing.T) {
	right := takenBy(compareAndDelete, true)
	for name, c := range map[string]struct {
		change func(*locktest.Config)
		lock   open
		wants  string
	}{
		"the runs are used up": {func(c *locktest.Config) { c.Runs = 20 }, made(polled(right), nil), "Config.Runs, 20, are used up"},
		"the time is over":     {func(c *locktest.Config) { c.Time = time.Nanosecond }, made(polled(right), nil), "Config.Time, 1ns, is over"},
		"a random pause": {func(*locktest.Config) {}, made(func(ctx context.Context, y *toy) (locktest.Held, error) {
			time.Sleep(randomPause())
			return right(ctx, y)
		}, nil), "could not be repeated in 40 attempts"},
		"another key": {func(c *locktest.Config) { c.Key = "another" }, made(right, nil), `nothing has ever written the key "another"`},
		"no success": {func(*locktest.Config) {}, made(func(context.Context, *toy) (locktest.Held, error) {
			return nil, errTaken
		}, nil), "no call of Lock has ever succeeded"},
		"a command that is unknown": {func(*locktest.Config) {}, made(func(ctx context.Context, y *toy) (locktest.Held, error) {
			return y, y.BLPop(ctx, 0, key).Err()
		}, nil), "BLPOP"},
		"no lock and no error": {func(*locktest.Config) {}, made(func(context.Context, *toy) (locktest.Held, error) {
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
		"no key":          {func(c *locktest.Config) { c.Key = "" }, nil, "Config.Key: it is empty"},
		"many actors":     {func(c *locktest.Config) { c.Actors = 9 }, nil, "Config.Actors: 9; it takes 1 to 4"},
		"another fault":   {func(c *locktest.Config) { c.Faults = "lost=1" }, nil, `there is no "lost"; there are slow, lost-reply`},
		"a fault twice":   {func(c *locktest.Config) { c.Faults = "slow=1,slow=2" }, nil, "slow is given twice"},
		"how often":       {func(c *locktest.Config) { c.Faults = "slow" }, nil, `"slow"; it takes NAME=TIMES`},
		"what is allowed": {func(c *locktest.Config) { c.Allow = []locktest.Anomaly{"race"} }, nil, `there is no anomaly "race"`},
	} {
		t.Run(name, func(t *testing.T) {
			config := config("")
			c.change(&config)
			result, err := locktest.Search(t, config, c.lock)
			if said := fmt.Sprint(result.Incomplete, result.Vacuous, err); !strings.Contains(said, c.wants) || len(result.Found) > 0 {
				t.Errorf("it says %s, and finds %v; want %q", said, result.Found, c.wants)
			}
		})
	}
}

// The goroutine that is left is named by who started it, and where.
func TestGoroutineLeakNamesTheGoroutine(t *testing.T) {
	leaks := made(func(ctx context.Context, y *toy) (locktest.Held, error) {
		go waitForEver()
		return tryOnce(ctx, y)
	}, remove)
	result, err := locktest.Search(t, config("", locktest.GoroutineLeak), leaks)
	if err != nil || len(result.Found) != 1 {
		t.Fatalf("%+v, %v; want a leak", result, err)
	}
	for _, part := range []string{
		"locktest_test.TestGoroutineLeakNamesTheGoroutine.func1 started it (locktest_test.go:", "in select (no cases)",
	} {
		if !strings.Contains(result.Found[0].Says, part) {
			t.Errorf("it says %q; want %q", result.Found[0].Says, part)
		}
	}
}

func waitForEver() { select {} }

// A parallel test is refused in words, and not by a panic of package testing.
func TestParallelTestIsRefused(t *testing.T) {
	t.Run("parallel", func(t *testing.T) {
		t.Parallel()
		if _, err := locktest.Search(t, config(""), made(tryOnce, remove)); err == nil || !strings.Contains(err.Error(), "t.Parallel") {
			t.Errorf("it says %v; want t.Parallel named", err)
		}
	})
}

// With a depth, schedules of up to so many steps are enough.
func TestADepthThatIsEnough(t *testing.T) {
	c := config("slow=1")
	c.Depth = 3
	result, err := locktest.Search(t, c, made(polled(takenBy(compareAndDelete, true)), nil))
	if err != nil || result.Complete || result.Incomplete != "" || result.Depth != 3 {
		t.Errorf("%+v, %v", result, err)
	}
}

// What a client has told the lock is what counts: by its context, too.
func TestALockThatTellsByItsContext(t *testing.T) {
	lock := made(polled(func(ctx context.Context, y *toy) (locktest.Held, error) {
		h, err := takenBy(compareAndDelete, true)(ctx, y)
		if err != nil {
			return nil, err
		}
		ends, cancel := context.WithTimeout(context.Background(), ttl)
		return told{h, ends, cancel}, nil
	}), nil)
	result, err := locktest.Search(t, config("slow=1"), lock)
	if err != nil || !result.Complete || len(result.Found) > 0 {
		t.Errorf("%+v, %v", result, err)
	}
}

type told struct {
	locktest.Held
	ctx    context.Context //nolint:containedctx // it is what is tested
	cancel func()
}

func (h told) Context() context.Context { return h.ctx }

func (h told) Unlock(ctx context.Context) error {
	h.cancel()
	return h.Held.Unlock(ctx)
}

// TryLock is explored beside Lock, where there is one.
func TestTryLock(t *testing.T) {
	lock := func(p locktest.Process) (locktest.Lock, error) {
		return tries{&toy{client(p, 0), polled(takenBy(compareAndDelete, true)), nil}}, nil
	}
	result, err := locktest.Search(t, config("", locktest.TwoHolders), lock)
	if err != nil || len(result.Found) != 1 || result.Found[0].Schedule != "A:TryLock B:TryLock" {
		t.Errorf("%+v, %v; want two holders, by TryLock", result, err)
	}
}

// tries lets everybody in who tries.
type tries struct{ *toy }

func (y tries) TryLock(context.Context) (locktest.Held, error) {
	return held{release: func(context.Context) error { return nil }}, nil
}

// Two goroutines of a process are two actors, on one lock.
func TestTogether(t *testing.T) {
	c := config("", locktest.TwoHolders)
	c.Actors, c.Together = 3, true
	shared := func(p locktest.Process) (locktest.Lock, error) { // one value for the process: its second call finds the lock its own
		y := &toy{Client: client(p, 0)}
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

// Each run begins alike: the clock, and what is random by crypto/rand.
func TestRunsBeginAlike(t *testing.T) {
	var texts []string
	_, err := locktest.Search(t, config(""), made(func(ctx context.Context, y *toy) (locktest.Held, error) {
		texts = append(texts, random()+time.Now().String())
		return tryOnce(ctx, y)
	}, remove))
	if err != nil || len(texts) < 3 || texts[0] != texts[1] {
		t.Errorf("%v, %v", texts, err)
	}
	synctest.Test(t, func(*testing.T) {}) // and the test can go on
}
