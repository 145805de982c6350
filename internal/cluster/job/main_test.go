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

// every is the tick of these tests.
const every = job.Every(time.Second)

// maker makes a lock as one process has it.
type maker func(strategy.Parts) lock.Locker

// of makes the locks of a row of the table.
func of(name string) maker {
	row, err := evolution.Find(name)
	if err != nil {
		panic(err)
	}
	return row.New
}

var none, local, setex, v1, v2, v4, v6 = of("v0"), of("local"), of("setex"), of("v1"), of("v2"), of("v4"), of("v6")

// Of the locks that keep other processes out: those that expire, of them those that a process keeps after its Unlock, and those that never
// expire.
var (
	expiring = exclusive(func(c strategy.Capabilities) bool { return c.ExpiresAtOnce })
	cached   = exclusive(func(c strategy.Capabilities) bool { return c.Cached })
	forGood  = exclusive(func(c strategy.Capabilities) bool { return !c.Expires })
)

// exclusive finds the locks in one Redis that keep other processes out, and of which this holds.
func exclusive(holds func(strategy.Capabilities) bool) map[string]maker {
	found := map[string]maker{}
	for _, row := range evolution.Table() {
		exclusive := row.Scope == strategy.Everybody && row.Update == strategy.ReadModifyWrite && !row.Capabilities.Open
		if exclusive && !row.OnNodes && holds(row.Capabilities) {
			found[row.Name] = row.New
		}
	}
	return found
}

// world is some replicas of a job on one Redis, in virtual time.
type world struct {
	t        *testing.T
	redis    *miniredis.Miniredis
	outside  *redis.Client
	record   job.Record
	replicas []*replica
}

// replica is one of them. What it says is kept.
type replica struct {
	client   *redis.Client
	notifier *dao.Notifier
	locker   lock.Locker
	end      context.CancelFunc
	ended    chan error

	slog.Handler // that says nothing
	mu           sync.Mutex
	trouble      []error
}

// group is some replicas of a job.
type group struct {
	make maker
	late []time.Duration // how late each of them is for its ticks
	work time.Duration
}

// inWorld runs a test of a group that begins half a tick before tick 0.
func inWorld(t *testing.T, g group, test func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, redis: miniredis.NewMiniRedis()}
		w.redis.ClockTTL(true)
		defer w.redis.Close()
		w.outside = w.open()
		defer w.outside.Close()
		w.record = job.Record{Client: w.outside, Every: every}
		time.Sleep(time.Until(tick(0).Add(-500 * time.Millisecond)))
		for i := range g.late {
			r := w.start(g, i)
			defer r.client.Close()
			defer r.notifier.Close()
			defer w.stop(r)
		}
		test(t, w)
	})
}

// tick is the i-th tick in a bubble, whose time begins with the year 2000.
func tick(i int) time.Time {
	return time.Date(2000, 1, 1, 0, 0, 10+i, 0, time.UTC)
}

// until sleeps, in virtual time, until so long after a tick, and until all has happened that happens then.
func (w *world) until(i int, after time.Duration) {
	time.Sleep(time.Until(tick(i).Add(after)))
	synctest.Wait()
}

func (w *world) open() *redis.Client {
	w.t.Helper()
	client := redisclient.Single(redisclient.Config{
		Addrs:  []string{"127.0.0.1:6379"}, // dialled by the next line; a name would be looked up outside the bubble
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
	r.locker = slow{g.make(strategy.Parts{
		Options: lock.Options{
			Key: "job", TTL: every.Expiry(), RetryInterval: 20 * time.Millisecond, Clock: lock.SystemClock{},
			Process: name, Notifier: r.notifier, Rand: rand.Int64N,
		},
		Client: r.client,
	}), g.late[i]}
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
	r.ended <- nil // it may be stopped again
}

// Enabled implements slog.Handler.
func (r *replica) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler: it keeps the error that a replica logs.
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

// heard gives what was heard since it was last asked.
func (r *replica) heard() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	heard := r.trouble
	r.trouble = nil
	return heard
}

// counts gives how often the ticks were run, from tick 0 to the last.
func (w *world) counts(last int) (counts []int) {
	w.t.Helper()
	for _, count := range w.tally(last, 0).Counts {
		counts = append(counts, count.Runs)
	}
	return counts
}

// tally tells what became of the ticks from tick 0 to the last, with a job that takes so long.
func (w *world) tally(last int, work time.Duration) job.Tally {
	w.t.Helper()
	runs, err := w.record.Runs(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return job.NewTally(runs, every, work, tick(0), tick(last))
}

// slow is a lock whose replica is late for every tick.
type slow struct {
	lock.Locker
	by time.Duration
}

func (s slow) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	time.Sleep(s.by)
	return s.Locker.TryLock(ctx, owner)
}
