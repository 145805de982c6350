package locktest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/test/suite"
	"lockstep/locktest"
)

// scriptLock opens a lock that one script takes and another releases. Both get the key, the owner, and the expiry in milliseconds.
func scriptLock(take, release string, owner func(*toy) string) open {
	return newToy(polled(func(ctx context.Context, y *toy) (locktest.Held, error) {
		own, until := owner(y), time.Now().Add(ttl)
		run := func(text string) (int, error) { return y.Eval(ctx, text, []string{key}, own, ttl.Milliseconds()).Int() }
		took, err := run(take)
		if err == nil && took == 0 {
			err = errTaken
		}
		ctx = context.WithoutCancel(ctx)
		return held{release: func(context.Context) error { _, err := run(release); return err }, until: until}, err
	}), nil)
}

func randomOwner(*toy) string { return "owner-" + rand.Text() }

// A correct lock shows no anomaly, however a script composes its value.
func TestComposedValuesCauseNoAnomaly(t *testing.T) {
	number := func(*toy) string { return strconv.FormatUint(1e11+uint64(rand.Text()[0])<<20, 10) }
	for name, open := range map[string]open{
		"a prefix of the script's": scriptLock(
			`if redis.call("SET", KEYS[1], "owner-" .. ARGV[1], "NX", "PX", ARGV[2]) then return 1 end return 0`,
			`if redis.call("GET", KEYS[1]) == "owner-" .. ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`, randomOwner),
		"a suffix that is compared": scriptLock(
			`if redis.call("SET", KEYS[1], "held by " .. ARGV[1], "NX", "PX", ARGV[2]) then return 1 end return 0`,
			`local v = redis.call("GET", KEYS[1]) or ""
			if string.sub(v, -26) == string.sub(ARGV[1], -26) then return redis.call("DEL", KEYS[1]) end return 0`, randomOwner),
		"a document": scriptLock(
			`local v = cjson.encode({owner = ARGV[1]})
			if redis.call("SET", KEYS[1], v, "NX", "PX", ARGV[2]) then return 1 end return 0`,
			`local v = redis.call("GET", KEYS[1])
			if v and cjson.decode(v).owner == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`, randomOwner),
		"a long number, as a score": scriptLock(
			`if redis.call("EXISTS", KEYS[1]) == 1 then return 0 end
			redis.call("ZADD", KEYS[1], ARGV[1], "owner") redis.call("PEXPIRE", KEYS[1], ARGV[2]) return 1`,
			`if tonumber(redis.call("ZSCORE", KEYS[1], "owner") or 0) == tonumber(ARGV[1]) then return redis.call("DEL", KEYS[1]) end return 0`,
			number),
	} {
		t.Run(name, func(t *testing.T) { assertCorrect(t, newConfig("slow=1"), open) })
	}
}

// assertCorrect checks that a lock shows no anomaly in any schedule.
func assertCorrect(t *testing.T, c locktest.Config, open open) {
	t.Helper()
	c.Runs, c.Time = 50_000, time.Hour
	result, err := locktest.Search(t, c, open)
	if err != nil || !result.Complete || result.Vacuous != "" || len(result.Found) > 0 {
		t.Errorf("%+v, %v", result, err)
	}
	t.Logf("%d runs, %d states, %d steps, %v", result.Runs, result.States, result.Depth, result.Took)
}

// Waiters may store something in the lock's key, as long as they neither remove nor overwrite what the holder stored.
func TestWaitersInKeyCauseNoAnomaly(t *testing.T) {
	for name, open := range map[string]open{
		"a counter": newToy(lockByCounter, remove),
		"a counter that waiters take back": newToy(func(ctx context.Context, y *toy) (locktest.Held, error) {
			h, err := lockByCounter(ctx, y)
			if errors.Is(err, errTaken) {
				return nil, errors.Join(err, y.Decr(ctx, key).Err())
			}
			return h, err
		}, func(ctx context.Context, y *toy) error { return y.Decr(ctx, key).Err() }),
		"a field beside the owner": scriptLock(
			`if redis.call("HSETNX", KEYS[1], "owner", ARGV[1]) == 1 then redis.call("PEXPIRE", KEYS[1], ARGV[2]) return 1 end
			redis.call("HSET", KEYS[1], "asked", 1) return 0`,
			`if redis.call("HGET", KEYS[1], "owner") == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`, randomOwner),
		"a line": newToy(func(ctx context.Context, y *toy) (locktest.Held, error) {
			owner := rand.Text()
			if err := y.RPush(ctx, key, owner).Err(); err != nil {
				return nil, err
			}
			for y.LIndex(ctx, key, 0).Val() != owner {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				time.Sleep(poll)
			}
			return held{release: func(ctx context.Context) error { return y.LRem(ctx, key, 1, owner).Err() }}, nil
		}, nil),
	} {
		t.Run(name, func(t *testing.T) { assertCorrect(t, newConfig(""), open) })
	}
}

// Failed attempts may store something in the lock's key, which still belongs to the holder.
func TestFailedAttemptsInKeyCauseNoAnomaly(t *testing.T) {
	for name, take := range map[string]string{
		"a counter beside a field that says nothing": `
			if redis.call("HSETNX", KEYS[1], "held", 1) == 1 then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end
			redis.call("HINCRBY", KEYS[1], "asked", 1) return 0`,
		"a member of a sorted set": `redis.call("ZADD", KEYS[1], "NX", redis.call("ZCARD", KEYS[1]), ARGV[1])
			if redis.call("ZRANK", KEYS[1], ARGV[1]) == 0 then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`,
	} {
		t.Run(name, func(t *testing.T) {
			assertCorrect(t, newConfig(""), newToy(func(ctx context.Context, y *toy) (locktest.Held, error) {
				took, err := y.Eval(ctx, take, []string{key}, rand.Text(), ttl.Milliseconds()).Int()
				if err == nil && took == 0 {
					err = errTaken
				}
				return y, err
			}, remove))
		})
	}
}

// Flaws that no fault excuses are found, and so are waiters that wait for something that never comes.
func TestSubtleFlawsAreFound(t *testing.T) {
	for name, row := range map[string]struct {
		open    open
		faults  string
		change  func(*locktest.Config)
		anomaly locktest.Anomaly
	}{
		"it is released when its context has ended": {open: newToy(func(ctx context.Context, y *toy) (locktest.Held, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			return held{release: func(context.Context) error { return y.Del(ctx, key).Err() }}, y.set(ctx, "1")
		}, nil), anomaly: locktest.LeftBehind},
		"its release fails": {open: newToy(tryOnce, func(context.Context, *toy) error { return errTaken }), anomaly: locktest.LeftBehind},
		"two of a process have one owner": {open: func(p locktest.Process) (locktest.Lock, error) {
			owner := rand.Text()
			return &toy{newClient(p, 0), polled(func(ctx context.Context, y *toy) (locktest.Held, error) {
				until := time.Now().Add(ttl)
				return held{func(ctx context.Context) error { return compareAndDelete(ctx, y, owner) }, until, 0}, y.set(ctx, owner)
			}), nil}, nil
		}, faults: "slow=1", anomaly: locktest.TwoHolders, change: func(c *locktest.Config) { c.Actors, c.Together = 3, true }},
		"a dead one is first in the line": {open: newToy(func(ctx context.Context, y *toy) (locktest.Held, error) {
			owner := rand.Text()
			if err := y.RPush(ctx, "line", owner).Err(); err != nil {
				return nil, err
			}
			for y.LIndex(ctx, "line", 0).Val() != owner {
				time.Sleep(poll)
			}
			err := y.set(ctx, owner)
			return held{release: func(ctx context.Context) error {
				return errors.Join(compareAndDelete(ctx, y, owner), y.LPop(ctx, "line").Err())
			}}, err
		}, nil), faults: "crash=1", anomaly: locktest.Stuck},
		"it is handed to who does not listen": {open: handOffLock, anomaly: locktest.Stuck},
		"minorities are kept": {open: minorityKeeper, anomaly: locktest.Stuck, change: func(c *locktest.Config) {
			c.Nodes, c.Actors, c.Runs = 3, 3, 20_000
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newConfig(row.faults, row.anomaly)
			c.Runs = 20_000
			if row.change != nil {
				row.change(&c)
			}
			result, err := locktest.Search(t, c, row.open)
			if err != nil || len(result.Found) != 1 {
				t.Fatalf("%+v, %v; want %s", result, err, row.anomaly)
			}
			t.Logf("%s: %s, %s", result.Found[0].Anomaly, result.Found[0].Says, result.Found[0].Schedule)
			if _, err := locktest.Show(t, c, result.Found[0].Schedule, row.open, row.anomaly); err != nil {
				t.Error(err)
			}
		})
	}
}

// handOffLock opens a lock that its holder hands to the first waiter: it stores the waiter's name in the key and sends a message. A waiter
// subscribes only after it has queued, and does not check again.
func handOffLock(p locktest.Process) (locktest.Lock, error) {
	return &toy{newClient(p, 0), func(ctx context.Context, y *toy) (locktest.Held, error) {
		owner := rand.Text()
		h := held{release: func(ctx context.Context) error {
			const releaseScript = `local next = redis.call("LPOP", KEYS[2])
				if next then redis.call("SET", KEYS[1], next) redis.call("PUBLISH", next, "yours") else redis.call("DEL", KEYS[1]) end return 1`
			return y.Eval(ctx, releaseScript, []string{key, "line"}, owner).Err()
		}}
		const take = `if redis.call("SET", KEYS[1], ARGV[1], "NX") then return 1 end redis.call("RPUSH", KEYS[2], ARGV[1]) return 0`
		took, err := y.Eval(ctx, take, []string{key, "line"}, owner).Int()
		if err != nil || took == 1 {
			return h, err
		}
		messages := y.Subscribe(ctx, owner)
		defer messages.Close()
		_, err = messages.ReceiveMessage(ctx)
		return h, err
	}, nil}, nil
}

// minorityKeeper opens a lock that is taken on three nodes, one after the other, and that keeps the nodes it has while it waits for the
// rest.
func minorityKeeper(p locktest.Process) (locktest.Lock, error) {
	var clients []*redis.Client
	for i := range 3 { // each process begins with a different node
		clients = append(clients, newClient(p, (i+int(p.Name[0]-'A'))%3))
	}
	return &toy{lock: func(ctx context.Context, _ *toy) (locktest.Held, error) {
		owner := rand.Text()
		var got, left []*redis.Client
		for left = clients; len(got) < 2; {
			var refused []*redis.Client
			for _, node := range left {
				if node.SetNX(ctx, key, owner, 0).Val() {
					got = append(got, node)
				} else {
					refused = append(refused, node)
				}
			}
			if left = refused; len(got) < 2 {
				time.Sleep(poll)
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		return held{release: func(ctx context.Context) (err error) {
			for _, node := range got {
				err = errors.Join(err, compareAndDelete(ctx, &toy{Client: node}, owner))
			}
			return err
		}}, nil
	}}, nil
}

// If all simulated processes share an owner, the result notes it, because the findings may be false.
func TestOwnerSharedByProcessesIsNoted(t *testing.T) {
	for name, owner := range map[string]string{
		"a package's variable": rand.Text(),
		"the process's number": "host:" + strconv.Itoa(os.Getpid()),
		"a constant":           "1",
	} {
		lock := newToy(polled(func(ctx context.Context, y *toy) (locktest.Held, error) {
			until := time.Now().Add(ttl)
			return held{func(ctx context.Context) error { return compareAndDelete(ctx, y, owner) }, until, 0}, y.set(ctx, owner)
		}), nil)
		result, err := locktest.Search(t, newConfig("slow=1"), lock)
		if isShared := name != "a constant"; err != nil || strings.Contains(result.Note, owner) != isShared {
			t.Errorf("%s: %q, %v", name, result.Note, err)
		}
	}
}

// A fault that cannot happen to a lock is listed.
func TestNeverListsImpossibleFaults(t *testing.T) {
	result, err := locktest.Search(t, newConfig("lost-reply=1,node-restart=1"), newToy(func(context.Context, *toy) (locktest.Held, error) {
		return held{release: func(context.Context) error { return nil }}, nil
	}, nil))
	if want := []string{"lost-reply", "node-restart"}; err != nil || !slices.Equal(result.Never, want) {
		t.Errorf("never happened: %v, %v; want %v", result.Never, err, want)
	}
	if result, err = locktest.Search(t, newConfig("lost-reply=1"), newToy(tryOnce, remove)); err != nil || len(result.Never) > 0 {
		t.Errorf("never happened: %v, %v; want none", result.Never, err)
	}
}

// Code that computes forever ends the search with an error that names the line.
func TestEndlessLoopIsErrorWithLine(t *testing.T) {
	suite.LongOnly(t, "it computes for five seconds")
	var over atomic.Bool
	defer over.Store(true)
	_, err := locktest.Search(t, newConfig(""), newToy(func(ctx context.Context, y *toy) (locktest.Held, error) {
		for !over.Load() { //nolint:revive // the mistake under test
		}
		var mu sync.Mutex
		mu.Lock()
		mu.Lock() // blocks forever, after the search has abandoned this run
		return tryOnce(ctx, y)
	}, remove))
	if err == nil || !strings.Contains(err.Error(), "values_test.go:") {
		t.Errorf("error %v; want the line of the loop", err)
	}
}

// If one goroutine of a process waits for a mutex that another holds during a command, the error names the line.
func TestMutexHeldAcrossCommandIsErrorWithLine(t *testing.T) {
	c := newConfig("")
	c.Actors, c.Together = 3, true
	start := time.Now()
	result, err := locktest.Search(t, c, func(p locktest.Process) (locktest.Lock, error) {
		var mu sync.Mutex
		return &toy{newClient(p, 0), func(ctx context.Context, y *toy) (locktest.Held, error) {
			mu.Lock()
			defer mu.Unlock()
			return tryOnce(ctx, y)
		}, remove}, nil
	})
	if err == nil || !strings.Contains(err.Error(), "values_test.go:") || !strings.Contains(err.Error(), "waits for a mutex") {
		t.Errorf("%+v, %v", result, err)
	}
	t.Log(err, time.Since(start))
}

// The error about a command that the simulated Redis lacks uses no term of the explorer.
func TestUnsupportedCommandIsRefused(t *testing.T) {
	for command, do := range map[string]func(context.Context, *toy) error{
		"BLPOP": func(ctx context.Context, y *toy) error { return y.BLPop(ctx, 0, "line").Err() },
		"WAIT":  func(ctx context.Context, y *toy) error { return y.Wait(ctx, 1, time.Second).Err() },
		"PSUBSCRIBE": func(ctx context.Context, y *toy) error {
			messages := y.PSubscribe(ctx, "*")
			defer messages.Close()
			_, err := messages.ReceiveMessage(ctx)
			return err
		},
		"SUBSCRIBE __keyspace@0__:orders": func(ctx context.Context, y *toy) error {
			messages := y.Subscribe(ctx, "__keyspace@0__:orders")
			defer messages.Close()
			_, err := messages.ReceiveMessage(ctx)
			return err
		},
	} {
		lock := newToy(func(ctx context.Context, y *toy) (locktest.Held, error) { return y, do(ctx, y) }, remove)
		_, err := locktest.Search(t, newConfig(""), lock)
		says := strings.ToLower(fmt.Sprint(err))
		if !strings.Contains(says, strings.ToLower(command)) || strings.Contains(says, "explorer") || strings.Contains(says, "strategy.") {
			t.Errorf("%s: error %v; want one that names the command", command, err)
		}
	}
}

// A lock may send commands while it is opened. They take effect, but are not steps.
func TestCommandsOnOpeningAreNoSteps(t *testing.T) {
	const release = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`
	opens := func(p locktest.Process) (locktest.Lock, error) {
		c := newClient(p, 0)
		sha, err := c.ScriptLoad(context.Background(), release).Result()
		if err != nil {
			return nil, err
		}
		if err := c.Set(context.Background(), "opened:"+p.Name, 1, 0).Err(); err != nil {
			return nil, err
		}
		return &toy{c, polled(lockByOwner(func(ctx context.Context, y *toy, owner string) error {
			return y.EvalSha(ctx, sha, []string{key}, owner).Err()
		}, true)), nil}, nil
	}
	assertCorrect(t, newConfig("slow=1"), opens)
}
