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
	strategy strategy.Strategy
	locker   lock.Locker
	parts    strategy.Parts
	faults   *faults
	inside   redis.UniversalClient   // the locker's client, with the faults
	outside  redis.UniversalClient   // somebody else's client: no faults
	keepers  []redis.UniversalClient // of the lock, without: outside, or of each node
	closers  []lock.Closer           // the lockers made so far that keep something between leases
	ears     *ears                   // the notifiers of all processes
	ear      *ear                    // the notifier of the locker's process
	late     time.Duration           // how much later than it should something may happen; none in virtual time
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
			t.Run("embedded", func(t *testing.T) { onEmbedded(t, row, test) })
			t.Run("real", func(t *testing.T) { onReal(t, row, test) })
		})
	}
}

func onEmbedded(t *testing.T, row strategy.Strategy, test func(*testing.T, *world)) {
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
		inside, outside := dial(m), dial(m)
		ears := &ears{t: t, client: outside}
		defer ears.close()
		m.ClockTTL(true)
		defer m.Close()
		defer outside.Close()
		defer inside.Close()
		w := newWorld(row, inside, outside, ears)
		for range masters(row) {
			node := miniredis.NewMiniRedis()
			with, without := dial(node), dial(node)
			node.ClockTTL(true)
			defer node.Close()
			defer with.Close()
			defer without.Close()
			w.addNode(with, without)
		}
		w.use(func(*strategy.Parts) {})
		test(t, w)
	})
}

// masters is how many a strategy needs beside the Redis with the stock.
func masters(row strategy.Strategy) int {
	if row.OnNodes {
		return 3
	}
	return 0
}

func onReal(t *testing.T, row strategy.Strategy, test func(*testing.T, *world)) {
	t.Helper()
	t.Parallel()
	server := redisserver.Start(t)
	r, err := dao.Open(t.Context(), dao.Config{Addrs: []string{server.Addr}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	there := r.Servers
	if there.Nodes = masters(row); row.Fits(there) != nil {
		t.Skip(row.Fits(there))
	}
	if err := r.Lock.Ping(t.Context()).Err(); err != nil { // or the hook would see the connection being made
		t.Fatal(err)
	}
	ears := &ears{t: t, client: r.Store} // r.Notifier's connection is made by r.Lock, which would be seen as a command of the lock
	defer ears.close()
	w := newWorld(row, r.Lock, r.Store, ears)
	w.parts.CompareAndDelete = r.Servers.CompareAndDelete
	w.late = 3 * time.Second
	if row.OnNodes {
		w.parts.TTL = 30 * time.Second // a node has a twentieth of it to answer
	}
	for range masters(row) {
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
	w.use(func(*strategy.Parts) {})
	test(t, w)
}

func newWorld(row strategy.Strategy, inside, outside redis.UniversalClient, ears *ears) *world {
	ear := ears.open()
	w := &world{
		strategy: row,
		inside:   inside,
		faults:   &faults{},
		ears:     ears,
		ear:      ear,
		outside:  outside,
		parts: strategy.Parts{
			Options: lock.Options{
				Key: lock.Key, TTL: 10 * time.Second, RetryInterval: 20 * time.Millisecond, WaitTimeout: 20 * time.Second,
				Clock: lock.SystemClock{}, Process: "process", HandOffLimit: 4, Notifier: ear, Rand: rand.Int64N,
			},
			Client: inside, CompareAndDelete: "DELEX",
		},
	}
	inside.AddHook(w.faults)
	w.keepers = []redis.UniversalClient{outside}
	return w
}

func (w *world) addNode(with, without redis.UniversalClient) {
	if len(w.parts.Nodes) == 0 {
		w.keepers = nil
	}
	with.AddHook(w.faults)
	w.parts.Nodes = append(w.parts.Nodes, with)
	w.keepers = append(w.keepers, without)
}

// use makes the strategy once more, with other options.
func (w *world) use(change func(*strategy.Parts)) {
	change(&w.parts)
	w.locker = w.make(w.parts)
}

// make makes a locker, and remembers it if it keeps something between leases.
func (w *world) make(parts strategy.Parts) lock.Locker {
	locker := w.strategy.New(parts)
	if closer, ok := locker.(lock.Closer); ok {
		w.closers = append(w.closers, closer)
	}
	return locker
}

// shortExpiry is for tests that wait for one: where it is renewed, long enough for a machine that stalls now and then. On a real Redis the
// quick suite waits for one lock of each kind, but for that on several, which takes longest.
func (w *world) shortExpiry(t *testing.T) {
	t.Helper()
	if w.late > 0 && !slices.Contains([]string{"v4", "v6", "v11"}, w.strategy.Name) {
		suite.LongOnly(t, "the same in virtual time; on a real Redis, others of its kind")
	}
	w.use(func(p *strategy.Parts) {
		p.TTL = 500 * time.Millisecond
		if w.strategy.Capabilities.Renewed {
			p.TTL = 2 * time.Second
		}
		if w.strategy.OnNodes {
			p.TTL = 8 * time.Second // a node has a twentieth of it to answer
		}
	})
}

// must locks for owner.
func (w *world) must(t *testing.T, owner string) *lock.Lease {
	t.Helper()
	return must(t, w.locker, owner)
}

func must(t *testing.T, locker lock.Locker, owner string) *lock.Lease {
	t.Helper()
	lease, err := locker.Lock(t.Context(), lock.Owner(owner))
	if err != nil {
		t.Fatalf("Lock(%s): %v", owner, err)
	}
	return lease
}

// other is the locker of another process.
func (w *world) other() lock.Locker { return w.process("other") }

// process is the locker of a process with that name.
func (w *world) process(name string) lock.Locker { return w.hearing(name, w.ears.open()) }

// hearing is the locker of a process with that name and that notifier.
func (w *world) hearing(name string, notifier lock.Notifier) lock.Locker {
	parts := w.parts
	parts.Process, parts.Notifier = name, notifier
	return w.make(parts)
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

// gone reports whether the lock is free once all sales have released it. A process that keeps its lock must still have it before it gives
// that back, with an expiry.
func (w *world) gone(t *testing.T) bool {
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
	for _, keeper := range w.keepers {
		if err := keeper.Del(t.Context(), lock.Key).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// exists reports whether the lock's key is there, on any node.
func (w *world) exists(t *testing.T) bool {
	t.Helper()
	for _, keeper := range w.keepers {
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
	d, err := w.keepers[0].PTTL(t.Context(), lock.Key).Result()
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
