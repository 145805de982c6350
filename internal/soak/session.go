package soak

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"lockstep/internal/cluster"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/fault"
)

// Session configures a soak of one lock. Run runs it.
type Session struct {
	Program  string                           // path of the lockstep program, which the replicas run
	Redis    string                           // path of the Redis server program; empty: found by fault.FindRedis
	Lock     string                           // name of the lock, one of Locks
	Replicas int                              // number of replicas
	Buyers   int                              // number of buyers
	Plan     []Fault                          // faults in the order of their injection
	Log      func(format string, args ...any) // called with each line of progress
}

const (
	pauseAfterRefusal = 50 * time.Millisecond  // pause of a buyer whose sale was not made
	snapshotInterval  = 200 * time.Millisecond // time between two snapshots
	logInterval       = 5 * time.Second        // time between two log lines with the rate of sales
)

// testbed is a running session: a Redis, replicas as processes, proxies between them and Redis, and buyers. Faults are injected into all of
// these. The reverse proxy before the replicas is in this process.
type testbed struct {
	Session

	redisServer *fault.RedisServer // Redis behind the proxies
	proxies     []*fault.Proxy     // one for each replica, by its index
	cluster     *cluster.Isolated  // replicas as processes
	url         string             // base URL of the reverse proxy
	http        *http.Client       // client for requests other than those of buyers
	redisClient *redis.Client      // direct client, past the proxies
	closers     []func() error     // cleanup functions, called in reverse order at the end

	load        *loadGenerator // buyers
	ledgers     *ledgers       // orders that have been read so far
	record      Record         // events of the session so far
	logMutex    sync.Mutex     // held during each call of Log
	redisIsDown atomic.Bool    // true while a fault keeps Redis down: no snapshots are taken
}

// Run starts the testbed, runs the buyers, and injects the faults of the plan. A fault that it cannot inject is in the record; any other
// failure is an error. Run stops all that it started before it returns, also if ctx ends early.
func (s Session) Run(ctx context.Context) (_ Record, err error) {
	if err := CheckLock(s.Lock); err != nil {
		return Record{}, err
	}
	if !cluster.CanPause {
		return Record{}, cluster.ErrCannotPause
	}
	b := &testbed{Session: s, http: &http.Client{Transport: &http.Transport{}}}
	defer func() {
		b.http.CloseIdleConnections()
		for _, end := range slices.Backward(b.closers) {
			err = errors.Join(err, end())
		}
	}()
	if err := b.start(ctx); err != nil {
		return Record{}, err
	}
	b.redisClient = redisclient.Single(redisclient.Config{Addrs: []string{b.redisServer.Addr()}, Timeout: settleTimeout})
	b.closers = append(b.closers, b.redisClient.Close)
	b.ledgers = newLedgers(b.redisClient)
	b.load = &loadGenerator{URL: b.url, Buyers: s.Buyers, Timeout: requestTimeout, Pause: pauseAfterRefusal, NewKey: uuid.NewString}
	return b.run(ctx)
}

// run runs the buyers, injects the faults, and returns the record.
func (b *testbed) run(ctx context.Context) (Record, error) {
	b.record = Record{Lock: b.Lock, Began: time.Now().Add(warmUp)}
	buying, stopBuying := context.WithCancel(ctx)
	defer stopBuying()
	sales := make(chan []Sale, 1)
	go func() { sales <- b.load.Run(ctx, buying) }()
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	snapshots := make(chan []Snapshot, 1)
	go func() { snapshots <- b.takeSnapshots(watching) }()

	err := sleep(ctx, warmUp+quietTime)
	for i := 0; err == nil && i < len(b.Plan); i++ {
		injected := b.inject(ctx, b.Plan[i])
		if injected.Error != "" {
			b.log("%s: %s", injected.Kind, injected.Error)
		}
		b.record.Faults = append(b.record.Faults, injected)
		err = sleep(ctx, recoveryTime)
	}
	b.record.Ended = time.Now()
	stopBuying()
	b.record.Sales = <-sales
	stopWatching()
	b.record.Snapshots = append(b.record.Snapshots, <-snapshots...)
	if err == nil {
		err = b.readFinalState(ctx)
	}
	for i := 0; err == nil && i < len(b.record.Sales); i++ {
		if sale := b.record.Sales[i]; sale.outcome() == outcomeUnknown && sale.OrderID != "" {
			b.record.Lookups = append(b.record.Lookups, b.lookUpOrder(ctx, sale.OrderID))
			err = context.Cause(ctx)
		}
	}
	b.record.Orders, b.record.ReplicaOutput = b.ledgers.Entries, b.cluster.Output()
	return b.record, err
}

// log logs a line, with the time since the session began and the number of sales so far.
func (b *testbed) log(format string, args ...any) {
	b.logMutex.Lock()
	defer b.logMutex.Unlock()
	since := time.Since(b.record.Began).Truncate(time.Second)
	b.Log("%6s  %7d sales  %s", since, b.load.Sold(), fmt.Sprintf(format, args...))
}

// readLedgers reads all ledgers, and takes a snapshot.
func (b *testbed) readLedgers(ctx context.Context) error {
	if err := b.ledgers.Read(ctx); err != nil {
		return err
	}
	snapshot, err := readSnapshot(ctx, b.redisClient)
	if err == nil {
		b.record.Snapshots = append(b.record.Snapshots, snapshot)
	}
	return err
}

// takeSnapshots takes snapshots of the run until ctx ends, and logs the rate of sales. It leaves out snapshots that fail during a fault.
func (b *testbed) takeSnapshots(ctx context.Context) (snapshots []Snapshot) {
	client := redisclient.Single(redisclient.Config{Addrs: []string{b.redisServer.Addr()}, PoolSize: 1})
	defer func() { _ = client.Close() }() // nothing was written
	lastLog, lastSales := time.Now(), int64(0)
	for sleep(ctx, snapshotInterval) == nil {
		if !b.redisIsDown.Load() {
			if snapshot, err := readSnapshot(ctx, client); err == nil {
				snapshots = append(snapshots, snapshot)
			}
		}
		if since := time.Since(lastLog); since >= logInterval {
			sales := b.load.Sold()
			b.log("%.0f sales a second", float64(sales-lastSales)/since.Seconds())
			lastLog, lastSales = time.Now(), sales
		}
	}
	return snapshots
}

// readFinalState waits until no sale is in flight, and reads the ledgers for the last time.
func (b *testbed) readFinalState(ctx context.Context) error {
	err := retry(ctx, fmt.Errorf("sales are still in flight %v after the last buyer left", settleTimeout), func() error {
		n, err := countInFlight(ctx, b.redisClient)
		if n > 0 {
			err = fmt.Errorf("%d in flight", n)
		}
		return err
	})
	if err != nil {
		return err
	}
	return b.readLedgers(ctx)
}
