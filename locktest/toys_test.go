package locktest_test

import (
	"context"
	"errors"
	"os"
	"strconv"
	"testing"
	"time"

	"crypto/rand"
	mathrand "math/rand/v2"

	"github.com/redis/go-redis/v9"

	"lockstep/locktest"
)

const (
	key  = "orders"
	ttl  = time.Second
	poll = 100 * time.Millisecond
)

var errTaken = errors.New("taken")

type (
	lockFunc   func(ctx context.Context, y *toy) (locktest.Held, error)
	unlockFunc func(ctx context.Context, y *toy) error
)

// toy is a lock for tests, made of a lock function and an unlock function.
type toy struct {
	*redis.Client
	lock   lockFunc
	unlock unlockFunc
}

func (y *toy) Lock(ctx context.Context) (locktest.Held, error) { return y.lock(ctx, y) }
func (y *toy) Unlock(ctx context.Context) error                { return y.unlock(ctx, y) }

// newToy returns a function that opens such a lock, with a client that does not retry.
func newToy(lock lockFunc, unlock unlockFunc) func(locktest.Process) (locktest.Lock, error) {
	return func(p locktest.Process) (locktest.Lock, error) {
		return &toy{newClient(p, 0), lock, unlock}, nil
	}
}

// newClient returns a client of a node that does not retry.
func newClient(p locktest.Process, node int) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: p.Addr(node), Dialer: p.Dial, MaxRetries: -1})
	p.Cleanup(func() { _ = c.Close() })
	return c
}

// held is an obtained lock, with everything that it can report.
type held struct {
	release func(ctx context.Context) error
	until   time.Time
	token   int64
}

func (h held) Unlock(ctx context.Context) error { return h.release(ctx) }
func (h held) Valid() bool                      { return h.until.IsZero() || time.Now().Before(h.until) }

// fenced is an obtained lock with a fencing token.
type fenced struct{ held }

func (f fenced) Token() int64 { return f.token }

// set takes the lock if it is free.
func (y *toy) set(ctx context.Context, value string) error {
	took, err := y.SetNX(ctx, key, value, ttl).Result()
	if err == nil && !took {
		return errTaken
	}
	return err
}

// tryOnce makes one attempt.
func tryOnce(ctx context.Context, y *toy) (locktest.Held, error) {
	if err := y.set(ctx, "1"); err != nil {
		return nil, err
	}
	return y, nil
}

// polled returns a lock function that repeats attempts until the lock is free.
func polled(try lockFunc) lockFunc {
	return func(ctx context.Context, y *toy) (locktest.Held, error) {
		for {
			h, err := try(ctx, y)
			if !errors.Is(err, errTaken) {
				return h, err
			}
			select {
			case <-time.After(poll):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
}

// remove deletes the key.
func remove(ctx context.Context, y *toy) error { return y.Del(ctx, key).Err() }

// nothing releases nothing.
func nothing(context.Context, *toy) error { return nil }

// lockByOwner returns a lock function that stores a random owner. The lock is valid until it expires. With undo it removes the lock if the
// reply to the SET was lost.
func lockByOwner(release func(ctx context.Context, y *toy, owner string) error, undo bool) lockFunc {
	return func(ctx context.Context, y *toy) (locktest.Held, error) {
		owner, until := rand.Text(), time.Now().Add(ttl)
		err := y.set(ctx, owner)
		if err != nil && !errors.Is(err, errTaken) && undo {
			for range 3 { // whatever the outcome of the SET
				if release(context.WithoutCancel(ctx), y, owner) == nil {
					break
				}
			}
		}
		if err != nil {
			return nil, err
		}
		return held{func(ctx context.Context) error { return release(ctx, y, owner) }, until, 0}, nil
	}
}

func getThenDelete(ctx context.Context, y *toy, owner string) error {
	if is, err := y.Get(ctx, key).Result(); err != nil || is != owner {
		return err
	}
	return remove(ctx, y)
}

func compareAndDelete(ctx context.Context, y *toy, owner string) error {
	const releaseScript = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`
	return y.Eval(ctx, releaseScript, []string{key}, owner).Err()
}

// lockInHash takes a lock in a field of a hash by HSETNX, without an expiry. The owner is the second argument of the release.
func lockInHash(ctx context.Context, y *toy) (locktest.Held, error) {
	owner := rand.Text()
	took, err := y.HSetNX(ctx, key, "owner", owner).Result()
	if err == nil && !took {
		err = errTaken
	}
	const releaseScript = `if redis.call("HGET", KEYS[1], ARGV[1]) == ARGV[2] then return redis.call("HDEL", KEYS[1], ARGV[1]) end return 0`
	release := func(ctx context.Context) error {
		return y.Eval(ctx, releaseScript, []string{key}, "owner", owner).Err()
	}
	return held{release: release}, err
}

// lockWithToken returns a lock function that gives each holder a token: from a counter if grows, otherwise always the same.
func lockWithToken(grows bool) lockFunc {
	return func(ctx context.Context, y *toy) (locktest.Held, error) {
		got, err := lockByOwner(compareAndDelete, true)(ctx, y)
		if err != nil {
			return nil, err
		}
		h := got.(held)
		h.token = 1
		if grows {
			h.token, err = y.Incr(ctx, "{"+key+"}:token").Result()
		}
		if err != nil {
			_ = h.release(ctx)
		}
		return fenced{h}, err
	}
}

// lockByCounter takes a lock that is a number: whoever increments it to 1 has the lock.
func lockByCounter(ctx context.Context, y *toy) (locktest.Held, error) {
	n, err := y.Incr(ctx, key).Result()
	if err == nil && n > 1 {
		err = errTaken
	}
	return y, err
}

// lockByTransaction takes the lock with WATCH, MULTI and EXEC, one command at a time.
func lockByTransaction(ctx context.Context, y *toy) (locktest.Held, error) {
	conn := y.Conn()
	defer conn.Close()
	do := func(command ...any) any { return conn.Do(ctx, command...).Val() }
	do("WATCH", key)
	if do("EXISTS", key) != int64(0) {
		do("UNWATCH")
		return nil, errTaken
	}
	do("MULTI")
	do("SET", key, rand.Text())
	if do("PEXPIRE", key, strconv.FormatInt(ttl.Milliseconds(), 10)) != "QUEUED" {
		return nil, errors.New("PEXPIRE was not queued")
	}
	if do("EXEC") == nil {
		return nil, errTaken
	}
	return y, nil
}

// onNodes opens a lock that is taken on a majority of three nodes, and released on all.
func onNodes(p locktest.Process) (locktest.Lock, error) {
	var nodes []*toy
	for node := range 3 {
		nodes = append(nodes, &toy{Client: newClient(p, node)})
	}
	return &toy{lock: func(ctx context.Context, _ *toy) (locktest.Held, error) {
		owner, until, got := rand.Text(), time.Now().Add(ttl), 0
		for _, node := range nodes {
			if node.set(ctx, owner) == nil {
				got++
			}
		}
		h := held{func(ctx context.Context) (err error) {
			for _, node := range nodes {
				err = errors.Join(err, compareAndDelete(ctx, node, owner))
			}
			return err
		}, until, 0}
		if got < 2 {
			return nil, errors.Join(errTaken, h.release(ctx))
		}
		return h, nil
	}}, nil
}

func random() string { return rand.Text() }

func randomPause() time.Duration { return time.Duration(mathrand.Int64N(int64(time.Second))) }

// runInTest runs f in a test, which examples and benchmarks do not have. Output of package testing is discarded.
func runInTest(f func(t *testing.T)) {
	stdout := os.Stdout
	defer func() { os.Stdout = stdout }()
	os.Stdout, _ = os.Open(os.DevNull)
	testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{F: f}})
}
