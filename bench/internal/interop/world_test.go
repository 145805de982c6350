// Package interop tests that locks of the evolution and redsync, a library that people use, exclude each other: they set the same key in
// the same way.
package interop

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/evolution"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
	"lockstep/internal/test/redisserver"
)

const (
	ttl          = 10 * time.Second
	retry        = 10 * time.Millisecond
	wait         = 20 * time.Second
	severalTries = 100 * time.Millisecond // time for several attempts
)

// world is the fixture: Redis servers, and the clients of all processes.
type world struct {
	t       *testing.T
	servers []*redisserver.Server
}

func newWorld(t *testing.T, servers int) *world {
	t.Helper()
	logging.Disable() // go-redis logs every node that is down
	w := &world{t: t}
	for range servers {
		w.servers = append(w.servers, redisserver.Start(t))
	}
	return w
}

// clients returns the clients of a process, one for each server.
func (w *world) clients() (clients []*redis.Client) {
	for _, server := range w.servers {
		client := redisclient.Single(redisclient.Config{Addrs: []string{server.Addr}})
		w.t.Cleanup(func() { client.Close() })
		clients = append(clients, client)
	}
	return clients
}

// locker returns a lock of the evolution for a process.
func (w *world) locker(name, process string) lock.Locker {
	w.t.Helper()
	row, err := evolution.Find(name)
	if err != nil {
		w.t.Fatal(err)
	}
	clients := w.clients()
	var nodes []redis.Cmdable
	for _, client := range clients {
		nodes = append(nodes, client)
	}
	return row.New(strategy.Parts{
		Options: lock.Options{Key: lock.Key, TTL: ttl, RetryInterval: retry, WaitTimeout: wait, Clock: lock.SystemClock{},
			Process: process, HandOffLimit: 8, Rand: rand.Int64N},
		Client: clients[0], Nodes: nodes,
	})
}

// onMajority returns the name of the lock on several servers.
func onMajority(t *testing.T) string {
	t.Helper()
	for _, row := range evolution.Table() {
		if row.OnNodes {
			return row.Name
		}
	}
	t.Fatal("the evolution has no lock on several servers")
	return ""
}

// redsync returns a function that creates a mutex of one process, which is for one goroutine.
func (w *world) redsync() func() *redsync.Mutex {
	var pools []redsyncredis.Pool
	for _, client := range w.clients() {
		pools = append(pools, goredis.NewPool(client))
	}
	sync := redsync.New(pools...)
	return func() *redsync.Mutex {
		return sync.NewMutex(lock.Key, redsync.WithExpiry(ttl), redsync.WithTries(int(wait/retry)),
			redsync.WithRetryDelayFunc(func(int) time.Duration { return retry/2 + rand.N(retry) }))
	}
}

// checkRedsyncHolds checks that the locker waits while redsync holds the lock.
func checkRedsyncHolds(t *testing.T, locker lock.Locker, mutex *redsync.Mutex) {
	t.Helper()
	if err := mutex.TryLock(); err != nil {
		t.Fatal("redsync, of a free lock: ", err)
	}
	if _, err := locker.TryLock(t.Context(), lock.Owner("try")); !errors.Is(err, lock.ErrNotObtained) {
		t.Errorf("TryLock while redsync holds it: %v; want ErrNotObtained", err)
	}
	began := time.Now()
	obtained := make(chan error, 1)
	var lease *lock.Lease
	go func() {
		var err error
		lease, err = locker.Lock(t.Context(), lock.Owner("wait"))
		obtained <- err
	}()
	select {
	case err := <-obtained:
		t.Fatalf("Lock while redsync holds it returned after %v: %v", time.Since(began), err)
	case <-time.After(severalTries):
	}
	unlock(t, mutex)
	if err := <-obtained; err != nil {
		t.Fatal("Lock after redsync's Unlock: ", err)
	}
	if err := lease.Unlock(t.Context()); err != nil {
		t.Error("Unlock: ", err)
	}
}

// checkLockstepHolds checks that redsync fails while the locker holds the lock.
func checkLockstepHolds(t *testing.T, locker lock.Locker, mutex *redsync.Mutex) {
	t.Helper()
	lease, err := locker.Lock(t.Context(), lock.Owner("hold"))
	if err != nil {
		t.Fatal("Lock of a free lock: ", err)
	}
	var taken *redsync.ErrTaken
	if err := mutex.TryLock(); !errors.As(err, &taken) {
		t.Errorf("redsync while we hold it: %v; want ErrTaken", err)
	}
	if err := lease.Unlock(t.Context()); err != nil {
		t.Fatal("Unlock: ", err)
	}
	if err := mutex.TryLock(); err != nil {
		t.Fatal("redsync after our Unlock: ", err)
	}
	unlock(t, mutex)
}

func unlock(t *testing.T, mutex *redsync.Mutex) {
	t.Helper()
	if held, err := mutex.Unlock(); !held || err != nil {
		t.Errorf("redsync's Unlock: got %v, %v, want true and no error", held, err)
	}
}
