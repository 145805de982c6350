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

// Session is a soak of one lock.
type Session struct {
	Program  string // lockstep itself
	Redis    string // the program to start as Redis; "": as fault.FindRedis finds it
	Lock     string
	Replicas int
	Buyers   int
	Plan     []Fault
	Log      func(format string, args ...any)
}

const (
	pauseAfterRefusal = 50 * time.Millisecond
	snapshotInterval  = 200 * time.Millisecond
	logInterval       = 5 * time.Second
)

// testbed is what the faults are injected into: a Redis, replicas as processes with a proxy before each, and their front, which is in this
// process; their buyers; and what happens.
type testbed struct {
	Session

	redisServer *fault.RedisServer
	proxies     []*fault.Proxy // one for each replica
	cluster     *cluster.Isolated
	url         string // of the front
	http        *http.Client
	redisClient *redis.Client
	closers     []func() error // of what runs, the last one first

	load        *loadGenerator
	ledgers     *ledgers
	record      Record
	logMutex    sync.Mutex
	redisIsDown atomic.Bool // whether Redis is: nobody looks at it then
}

// Run starts the shop, runs the buyers, and injects the faults of the plan. A fault that it cannot inject is in the record; any other
// failure is an error. Nothing is left of it, also if ctx ends before.
func (s Session) Run(ctx context.Context) (_ Record, err error) {
	if err := CheckLock(s.Lock); err != nil {
		return Record{}, err
	}
	if !cluster.CanPause {
		return Record{}, cluster.ErrCannotPause
	}
	w := &testbed{Session: s, http: &http.Client{Transport: &http.Transport{}}}
	defer func() {
		w.http.CloseIdleConnections()
		for _, end := range slices.Backward(w.closers) {
			err = errors.Join(err, end())
		}
	}()
	if err := w.start(ctx); err != nil {
		return Record{}, err
	}
	w.redisClient = redisclient.Single(redisclient.Config{Addrs: []string{w.redisServer.Addr()}, Timeout: settleTimeout})
	w.closers = append(w.closers, w.redisClient.Close)
	w.ledgers = newLedgers(w.redisClient)
	w.load = &loadGenerator{URL: w.url, Buyers: s.Buyers, Timeout: requestTimeout, Pause: pauseAfterRefusal, NewKey: uuid.NewString}
	return w.run(ctx)
}

func (b *testbed) run(ctx context.Context) (Record, error) {
	b.record = Record{Lock: b.Lock, Began: time.Now().Add(warmUp)}
	open, shut := context.WithCancel(ctx)
	defer shut()
	sales := make(chan []Sale, 1)
	go func() { sales <- b.load.Run(ctx, open) }()
	watching, leave := context.WithCancel(ctx)
	defer leave()
	looks := make(chan []Snapshot, 1)
	go func() { looks <- b.takeSnapshots(watching) }()

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
	shut()
	b.record.Sales = <-sales
	leave()
	b.record.Snapshots = append(b.record.Snapshots, <-looks...)
	if err == nil {
		err = b.readFinalState(ctx)
	}
	for i := 0; err == nil && i < len(b.record.Sales); i++ {
		if sale := b.record.Sales[i]; sale.outcome() == outcomeUnknown && sale.OrderID != "" {
			b.record.Doubts = append(b.record.Doubts, b.lookUpOrder(ctx, sale.OrderID))
			err = context.Cause(ctx)
		}
	}
	b.record.Orders, b.record.ReplicaOutput = b.ledgers.Entries, b.cluster.Said()
	return b.record, err
}

func (b *testbed) log(format string, args ...any) {
	b.logMutex.Lock()
	defer b.logMutex.Unlock()
	since := time.Since(b.record.Began).Truncate(time.Second)
	b.Log("%6s  %7d sales  %s", since, b.load.Sold(), fmt.Sprintf(format, args...))
}

func (b *testbed) readLedgers(ctx context.Context) error {
	if err := b.ledgers.Read(ctx); err != nil {
		return err
	}
	look, err := readSnapshot(ctx, b.redisClient)
	if err == nil {
		b.record.Snapshots = append(b.record.Snapshots, look)
	}
	return err
}

// takeSnapshots looks at the run again and again, until ctx ends. What a fault keeps it from seeing it does not see.
func (b *testbed) takeSnapshots(ctx context.Context) (looks []Snapshot) {
	client := redisclient.Single(redisclient.Config{Addrs: []string{b.redisServer.Addr()}, PoolSize: 1})
	defer func() { _ = client.Close() }() // it was only asked
	told, sold := time.Now(), int64(0)
	for sleep(ctx, snapshotInterval) == nil {
		if !b.redisIsDown.Load() {
			if look, err := readSnapshot(ctx, client); err == nil {
				looks = append(looks, look)
			}
		}
		if since := time.Since(told); since >= logInterval {
			n := b.load.Sold()
			b.log("%.0f a second", float64(n-sold)/since.Seconds())
			told, sold = time.Now(), n
		}
	}
	return looks
}

// readFinalState reads the ledgers for the last time, when no sale is in flight any more.
func (b *testbed) readFinalState(ctx context.Context) error {
	err := retry(ctx, fmt.Errorf("sales are in flight %v after the last buyer left", settleTimeout), func() error {
		n, err := countInFlight(ctx, b.redisClient)
		if n > 0 {
			err = fmt.Errorf("%d", n)
		}
		return err
	})
	if err != nil {
		return err
	}
	return b.readLedgers(ctx)
}
