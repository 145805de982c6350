package evolution_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/evolution"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
	"lockstep/internal/test/redisserver"
	"lockstep/internal/test/suite"
)

// world is the fixture of a test: a strategy on Redis, whose commands can be failed.
type world struct {
	strategy    strategy.Strategy
	locker      lock.Locker
	parts       strategy.Parts
	faults      *faults
	client      redis.UniversalClient   // client of the locker, with faults
	otherClient redis.UniversalClient   // client without faults
	lockServers []redis.UniversalClient // clients without faults: otherClient, or one for each node
	closers     []lock.Closer           // lockers so far that have to be closed
	notifiers   *notifierSet            // notifiers of all processes
	notifier    *testNotifier           // notifier of the locker's process
	slack       time.Duration           // delay that a test tolerates; 0 in virtual time
}

// eachWorld runs a test for every strategy, on the embedded Redis in virtual time and on a real one in real time. All of them run in
// parallel, because they mostly wait.
func eachWorld(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	t.Parallel()
	for _, row := range evolution.Table() {
		if row.Capabilities.Open || row.Update != strategy.ReadModifyWrite {
			continue // promises nothing; the explorer shows the flaws
		}
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("the row of %s says %+v: is that what it does?", row.Name, row.Capabilities)
				}
			})
			t.Run("embedded", func(t *testing.T) { onEmbeddedServer(t, row, test) })
			t.Run("real", func(t *testing.T) { onRealServer(t, row, test) })
		})
	}
}

func onEmbeddedServer(t *testing.T, row strategy.Strategy, test func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := miniredis.NewMiniRedis()
		dial := func(m *miniredis.Miniredis) redis.UniversalClient {
			client := redisclient.Single(redisclient.Config{
				Addrs:    []string{"127.0.0.1:6379"}, // a name would be resolved outside the bubble
				Dialer:   func(context.Context, string, string) (net.Conn, error) { return m.Dial() },
				PoolSize: 100, // enough: waiting for a connection uses a timer from outside the bubble
			})
			if err := client.Ping(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			return client
		}
		client, otherClient := dial(m), dial(m)
		notifiers := &notifierSet{t: t, client: otherClient}
		defer notifiers.close()
		m.ClockTTL(true)
		defer m.Close()
		defer otherClient.Close()
		defer client.Close()
		w := newWorld(row, client, otherClient, notifiers)
		for range nodesNeeded(row) {
			node := miniredis.NewMiniRedis()
			client, otherClient := dial(node), dial(node)
			node.ClockTTL(true)
			defer node.Close()
			defer client.Close()
			defer otherClient.Close()
			w.addNode(client, otherClient)
		}
		w.rebuild(func(*strategy.Parts) {})
		test(t, w)
	})
}

// nodesNeeded returns the number of masters that a strategy needs beside the Redis with the stock.
func nodesNeeded(row strategy.Strategy) int {
	if row.OnNodes {
		return 3
	}
	return 0
}

func onRealServer(t *testing.T, row strategy.Strategy, test func(*testing.T, *world)) {
	t.Helper()
	t.Parallel()
	server := redisserver.Start(t)
	r, err := dao.Open(t.Context(), dao.Config{Addrs: []string{server.Addr}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	available := r.Servers
	if available.Nodes = nodesNeeded(row); row.CheckServers(available) != nil {
		t.Skip(row.CheckServers(available))
	}
	if err := r.Lock.Ping(t.Context()).Err(); err != nil { // opens the connection, before the hook counts commands
		t.Fatal(err)
	}
	notifiers := &notifierSet{t: t, client: r.Store} // not r.Notifier, whose connection counts as a command
	defer notifiers.close()
	w := newWorld(row, r.Lock, r.Store, notifiers)
	w.parts.CompareAndDelete = r.Servers.CompareAndDelete
	w.slack = 3 * time.Second
	if row.OnNodes {
		w.parts.TTL = 30 * time.Second // a node must answer within a twentieth of it
	}
	for range nodesNeeded(row) {
		node, err := dao.Open(t.Context(), dao.Config{Addrs: []string{redisserver.Start(t).Addr}})
		if err != nil {
			t.Fatal(err)
		}
		defer node.Close()
		if err := node.Lock.Ping(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		w.addNode(node.Lock, node.Store)
	}
	w.rebuild(func(*strategy.Parts) {})
	test(t, w)
}

func newWorld(row strategy.Strategy, client, otherClient redis.UniversalClient, notifiers *notifierSet) *world {
	notifier := notifiers.open()
	w := &world{
		strategy:    row,
		client:      client,
		faults:      &faults{},
		notifiers:   notifiers,
		notifier:    notifier,
		otherClient: otherClient,
		parts: strategy.Parts{
			Options: lock.Options{
				Key: lock.Key, TTL: 10 * time.Second, RetryInterval: 20 * time.Millisecond, WaitTimeout: 20 * time.Second,
				Clock: lock.SystemClock{}, Process: "process", HandOffLimit: 4, Notifier: notifier, Rand: rand.Int64N,
			},
			Client: client, CompareAndDelete: "DELEX",
		},
	}
	client.AddHook(w.faults)
	w.lockServers = []redis.UniversalClient{otherClient}
	return w
}

func (w *world) addNode(client, otherClient redis.UniversalClient) {
	if len(w.parts.Nodes) == 0 {
		w.lockServers = nil
	}
	client.AddHook(w.faults)
	w.parts.Nodes = append(w.parts.Nodes, client)
	w.lockServers = append(w.lockServers, otherClient)
}

// rebuild replaces the locker by one with other options.
func (w *world) rebuild(change func(*strategy.Parts)) {
	change(&w.parts)
	w.locker = w.newLocker(w.parts)
}

// newLocker creates a locker, which close closes if it has to be closed.
func (w *world) newLocker(parts strategy.Parts) lock.Locker {
	locker := w.strategy.New(parts)
	if closer, ok := locker.(lock.Closer); ok {
		w.closers = append(w.closers, closer)
	}
	return locker
}

// useShortExpiry replaces the locker by one with a short expiry. With renewal it is long enough for a busy machine. On a real Redis, the
// quick suite skips all but one lock of each kind.
func (w *world) useShortExpiry(t *testing.T) {
	t.Helper()
	if w.slack > 0 && !slices.Contains([]string{"v4", "v6", "v11"}, w.strategy.Name) {
		suite.LongOnly(t, "the same in virtual time; on a real Redis, others of its kind")
	}
	w.rebuild(func(p *strategy.Parts) {
		p.TTL = 500 * time.Millisecond
		if w.strategy.Capabilities.Renewed {
			p.TTL = 2 * time.Second
		}
		if w.strategy.OnNodes {
			p.TTL = 8 * time.Second // a node must answer within a twentieth of it
		}
	})
}

// mustLock locks for owner, and fails the test on an error.
func (w *world) mustLock(t *testing.T, owner string) *lock.Lease {
	t.Helper()
	return mustLock(t, w.locker, owner)
}

func mustLock(t *testing.T, locker lock.Locker, owner string) *lock.Lease {
	t.Helper()
	lease, err := locker.Lock(t.Context(), lock.Owner(owner))
	if err != nil {
		t.Fatalf("Lock(%s): %v", owner, err)
	}
	return lease
}

// otherProcess returns the locker of another process.
func (w *world) otherProcess() lock.Locker { return w.newProcess("other") }

// newProcess returns the locker of a process with a name.
func (w *world) newProcess(name string) lock.Locker {
	return w.newProcessWith(name, w.notifiers.open())
}

// newProcessWith returns the locker of a process with a name and a notifier.
func (w *world) newProcessWith(name string, notifier lock.Notifier) lock.Locker {
	parts := w.parts
	parts.Process, parts.Notifier = name, notifier
	return w.newLocker(parts)
}

// unlock releases a lease, and a lock that the process has cached. Only then Redis reports what became of the lock.
func (w *world) unlock(t *testing.T, lease *lock.Lease) error {
	t.Helper()
	return errors.Join(lease.Unlock(t.Context()), w.close(t))
}

// close closes all lockers. It also checks that exactly those that are handed over have to be closed.
func (w *world) close(t *testing.T) (err error) {
	t.Helper()
	if keeps := w.strategy.Capabilities.HandsOver; keeps != (len(w.closers) > 0) { // they have a subscription
		t.Errorf("the row says handed over: %t; %d lockers can be closed", keeps, len(w.closers))
	}
	for _, closer := range w.closers {
		err = errors.Join(err, closer.Close(t.Context()))
	}
	return err
}

// closeAndCheckFree closes all lockers, and returns whether the lock is free then. It checks that a cached lock was still there before,
// with an expiry.
func (w *world) closeAndCheckFree(t *testing.T) bool {
	t.Helper()
	if ttl := w.ttl(t); w.strategy.Capabilities.Cached && ttl <= 0 {
		t.Errorf("no process keeps the lock, or without an expiry (PTTL %v); the row says that one does", ttl)
	}
	if err := w.close(t); err != nil {
		t.Errorf("Close: %v", err)
	}
	return !w.exists(t)
}

// expire deletes the key of the lock, as its expiry would.
func (w *world) expire(t *testing.T) {
	t.Helper()
	for _, keeper := range w.lockServers {
		if err := keeper.Del(t.Context(), lock.Key).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// exists reports whether the key of the lock exists, on any node.
func (w *world) exists(t *testing.T) bool {
	t.Helper()
	for _, keeper := range w.lockServers {
		n, err := keeper.Exists(t.Context(), lock.Key).Result()
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			return true
		}
	}
	return false
}

// ttl returns the expiry of the key; -1: none, -2: no key.
func (w *world) ttl(t *testing.T) time.Duration {
	t.Helper()
	d, err := w.lockServers[0].PTTL(t.Context(), lock.Key).Result()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// pause waits for d on the clock of the strategy.
func (w *world) pause(t *testing.T, d time.Duration) {
	t.Helper()
	if err := lock.Sleep(t.Context(), w.parts.Clock, d); err != nil {
		t.Fatal(err)
	}
}
