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

// world is a strategy on a Redis, with a hand on every command it sends.
type world struct {
	strategy    strategy.Strategy
	locker      lock.Locker
	parts       strategy.Parts
	faults      *faults
	client      redis.UniversalClient   // the locker's client, with the faults
	otherClient redis.UniversalClient   // somebody else's client: no faults
	lockServers []redis.UniversalClient // of the lock, without: outside, or of each node
	closers     []lock.Closer           // the lockers made so far that keep something between leases
	notifiers   *notifierSet            // the notifiers of all processes
	notifier    *testNotifier           // the notifier of the locker's process
	slack       time.Duration           // how much later than it should something may happen; none in virtual time
}

// eachWorld runs a test for every strategy, on the embedded Redis in virtual time and on a real one in real time: those all at
// once, for they mostly wait.
func eachWorld(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	t.Parallel()
	for _, row := range evolution.Table() {
		if row.Capabilities.Open || row.Update != strategy.ReadModifyWrite {
			continue // everybody gets it: there is nothing to promise. What that breaks is shown by the explorer
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
				Addrs:    []string{"127.0.0.1:6379"}, // dialled by the next line; a name would be looked up outside the bubble
				Dialer:   func(context.Context, string, string) (net.Conn, error) { return m.Dial() },
				PoolSize: 100, // a command that has to wait for a connection waits on a timer from outside the bubble
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

// nodesNeeded is how many a strategy needs beside the Redis with the stock.
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
	if available.Nodes = nodesNeeded(row); row.Fits(available) != nil {
		t.Skip(row.Fits(available))
	}
	if err := r.Lock.Ping(t.Context()).Err(); err != nil { // or the hook would see the connection being made
		t.Fatal(err)
	}
	notifiers := &notifierSet{t: t, client: r.Store} // r.Notifier's connection is made by r.Lock, which would be seen as a command of the lock
	defer notifiers.close()
	w := newWorld(row, r.Lock, r.Store, notifiers)
	w.parts.CompareAndDelete = r.Servers.CompareAndDelete
	w.slack = 3 * time.Second
	if row.OnNodes {
		w.parts.TTL = 30 * time.Second // a node has a twentieth of it to answer
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

// rebuild makes the strategy once more, with other options.
func (w *world) rebuild(change func(*strategy.Parts)) {
	change(&w.parts)
	w.locker = w.newLocker(w.parts)
}

// newLocker makes a locker, and remembers it if it keeps something between leases.
func (w *world) newLocker(parts strategy.Parts) lock.Locker {
	locker := w.strategy.New(parts)
	if closer, ok := locker.(lock.Closer); ok {
		w.closers = append(w.closers, closer)
	}
	return locker
}

// useShortExpiry is for tests that wait for one: where it is renewed, long enough for a machine that stalls now and then. On a real Redis the
// quick suite waits for one lock of each kind, but for that on several, which takes longest.
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
			p.TTL = 8 * time.Second // a node has a twentieth of it to answer
		}
	})
}

// mustLock locks for owner.
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

// otherProcess is the locker of another process.
func (w *world) otherProcess() lock.Locker { return w.newProcess("other") }

// newProcess is the locker of a process with that name.
func (w *world) newProcess(name string) lock.Locker {
	return w.newProcessWith(name, w.notifiers.open())
}

// newProcessWith is the locker of a process with that name and that notifier.
func (w *world) newProcessWith(name string, notifier lock.Notifier) lock.Locker {
	parts := w.parts
	parts.Process, parts.Notifier = name, notifier
	return w.newLocker(parts)
}

// unlock releases a lease. A process that keeps its lock then gives it back, too: only then Redis says what became of the lock.
func (w *world) unlock(t *testing.T, lease *lock.Lease) error {
	t.Helper()
	return errors.Join(lease.Unlock(t.Context()), w.close(t))
}

// close ends what all processes keep. Exactly the lockers that keep something can be closed.
func (w *world) close(t *testing.T) (err error) {
	t.Helper()
	if keeps := w.strategy.Capabilities.HandsOver; keeps != (len(w.closers) > 0) { // a subscription, and perhaps the lock
		t.Errorf("the row says handed over: %t; %d lockers can be closed", keeps, len(w.closers))
	}
	for _, closer := range w.closers {
		err = errors.Join(err, closer.Close(t.Context()))
	}
	return err
}

// closeAndCheckFree reports whether the lock is free once all sales have released it. A process that keeps its lock must still have it before it gives
// that back, with an expiry.
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

// expire makes the lock's key go away now, as its expiry would.
func (w *world) expire(t *testing.T) {
	t.Helper()
	for _, keeper := range w.lockServers {
		if err := keeper.Del(t.Context(), lock.Key).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// exists reports whether the lock's key is there, on any node.
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

// ttl is the lock's expiry, -1 for none, -2 for no key.
func (w *world) ttl(t *testing.T) time.Duration {
	t.Helper()
	d, err := w.lockServers[0].PTTL(t.Context(), lock.Key).Result()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// pause lets time go by on the strategy's clock.
func (w *world) pause(t *testing.T, d time.Duration) {
	t.Helper()
	if err := lock.Sleep(t.Context(), w.parts.Clock, d); err != nil {
		t.Fatal(err)
	}
}
