package job_test

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"lockstep/internal/cluster/job"
	"lockstep/internal/dao"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/evolution"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// every is the interval of the ticks in these tests.
const every = job.TickLength(time.Second)

// lockMaker makes a lock for one process.
type lockMaker func(strategy.Parts) lock.Locker

// findLock returns the constructor of the named lock.
func findLock(name string) lockMaker {
	row, err := evolution.Find(name)
	if err != nil {
		panic(err)
	}
	return row.New
}

var none, local, setex, v1, v2, v4, v6 = findLock("v0"), findLock("local"), findLock("setex"), findLock("v1"), findLock("v2"),
	findLock("v4"), findLock("v6")

// Locks that exclude other processes: those that expire, those of them that a process keeps after Unlock, and those that never expire.
var (
	expiring = exclusiveLocks(func(c strategy.Capabilities) bool { return c.ExpiresAtOnce })
	cached   = exclusiveLocks(func(c strategy.Capabilities) bool { return c.Cached })
	forGood  = exclusiveLocks(func(c strategy.Capabilities) bool { return !c.Expires })
)

// exclusiveLocks returns the locks in one Redis that exclude other processes and have these capabilities.
func exclusiveLocks(holds func(strategy.Capabilities) bool) map[string]lockMaker {
	found := map[string]lockMaker{}
	for _, row := range evolution.Table() {
		exclusive := row.Scope == strategy.Everybody && row.Update == strategy.ReadModifyWrite && !row.Capabilities.Open
		if exclusive && !row.OnNodes && holds(row.Capabilities) {
			found[row.Name] = row.New
		}
	}
	return found
}

// world is a group of replicas of a job on one Redis, in virtual time.
type world struct {
	t        *testing.T
	redis    *miniredis.Miniredis
	outside  *redis.Client
	record   job.Record
	replicas []*replica
}

// replica is one replica of the job. It records the errors that it logs.
type replica struct {
	client   *redis.Client
	notifier *dao.Notifier
	locker   lock.Locker
	end      context.CancelFunc
	ended    chan error

	slog.Handler // discards everything
	mu           sync.Mutex
	trouble      []error
}

// group configures the replicas of a world.
type group struct {
	make   lockMaker
	delays []time.Duration // delay of each replica at each tick
	work   time.Duration
}

// testInWorld runs a test of a group. It begins half a tick before tick 0.
func testInWorld(t *testing.T, g group, test func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, redis: miniredis.NewMiniRedis()}
		w.redis.ClockTTL(true)
		defer w.redis.Close()
		w.outside = w.open()
		defer w.outside.Close()
		w.record = job.Record{Client: w.outside, Every: every}
		time.Sleep(time.Until(tick(0).Add(-500 * time.Millisecond)))
		for i := range g.delays {
			r := w.start(g, i)
			defer r.client.Close()
			defer r.notifier.Close()
			defer w.stop(r)
		}
		test(t, w)
	})
}

// tick returns the time of the i-th tick in a bubble, whose time begins with the year 2000.
func tick(i int) time.Time {
	return time.Date(2000, 1, 1, 0, 0, 10+i, 0, time.UTC)
}

// sleepUntil sleeps, in virtual time, until some time after a tick, and until everything has happened that happens then.
func (w *world) sleepUntil(i int, after time.Duration) {
	time.Sleep(time.Until(tick(i).Add(after)))
	synctest.Wait()
}

func (w *world) open() *redis.Client {
	w.t.Helper()
	client := redisclient.Single(redisclient.Config{
		Addrs:  []string{"127.0.0.1:6379"}, // only a placeholder for Dialer; a host name would be looked up outside the bubble
		Dialer: func(context.Context, string, string) (net.Conn, error) { return w.redis.Dial() },
	})
	if err := client.Ping(w.t.Context()).Err(); err != nil {
		w.t.Fatal(err)
	}
	return client
}

func (w *world) start(g group, i int) *replica {
	w.t.Helper()
	r := &replica{client: w.open(), ended: make(chan error, 1), Handler: slog.DiscardHandler}
	name := strconv.Itoa(i)
	r.notifier = dao.NewNotifier(r.client)
	r.locker = lateLocker{g.make(strategy.Parts{
		Options: lock.Options{
			Key: "job", TTL: every.Expiry(), RetryInterval: 20 * time.Millisecond, Clock: lock.SystemClock{},
			Process: name, Notifier: r.notifier, Rand: rand.Int64N,
		},
		Client: r.client,
	}), g.delays[i]}
	one := job.Replica{
		Name: name, Every: every, Work: g.work, Locker: r.locker, Record: job.Record{Client: r.client, Every: every},
		Output: io.Discard, Log: slog.New(r),
	}
	var ctx context.Context
	ctx, r.end = context.WithCancel(w.t.Context())
	go func() { r.ended <- one.Run(ctx) }()
	w.replicas = append(w.replicas, r)
	return r
}

// stop ends a replica, and waits until it has ended.
func (w *world) stop(r *replica) {
	w.t.Helper()
	r.end()
	if err := <-r.ended; err != nil {
		w.t.Errorf("ending: %v", err)
	}
	r.ended <- nil // stop may be called again
}

// Enabled implements slog.Handler.
func (r *replica) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler. It records the errors that a replica logs.
func (r *replica) Handle(_ context.Context, record slog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	record.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		if ok {
			r.trouble = append(r.trouble, err)
		}
		return true
	})
	return nil
}

// takeErrors returns the errors since the last takeErrors.
func (r *replica) takeErrors() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	heard := r.trouble
	r.trouble = nil
	return heard
}

// countRuns returns how often each tick was run, from tick 0 to the last.
func (w *world) countRuns(last int) (counts []int) {
	w.t.Helper()
	for _, count := range w.tally(last, 0).Counts {
		counts = append(counts, count.Runs)
	}
	return counts
}

// tally returns the tally of the ticks from tick 0 to the last, for a job that takes this long.
func (w *world) tally(last int, work time.Duration) job.Tally {
	w.t.Helper()
	runs, err := w.record.Runs(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return job.NewTally(runs, every, work, tick(0), tick(last))
}

// lateLocker is a lock whose replica is late for every tick.
type lateLocker struct {
	lock.Locker
	by time.Duration
}

func (s lateLocker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	time.Sleep(s.by)
	return s.Locker.TryLock(ctx, owner)
}
