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
	watchEvery        = 200 * time.Millisecond
	tellEvery         = 5 * time.Second
)

// world is what the faults are injected into: a Redis, replicas as processes with a proxy before each, and their front, which is in this
// process; their buyers; and what happens.
type world struct {
	Session

	redis   *fault.RedisServer
	proxies []*fault.Proxy // one for each replica
	cluster *cluster.Isolated
	url     string // of the front
	asker   *http.Client
	client  *redis.Client
	endings []func() error // of what runs, the last one first

	crowd   *crowd
	ledgers *ledgers
	record  Record
	telling sync.Mutex
	gone    atomic.Bool // whether Redis is: nobody looks at it then
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
	w := &world{Session: s, asker: &http.Client{Transport: &http.Transport{}}}
	defer func() {
		w.asker.CloseIdleConnections()
		for _, end := range slices.Backward(w.endings) {
			err = errors.Join(err, end())
		}
	}()
	if err := w.open(ctx); err != nil {
		return Record{}, err
	}
	w.client = redisclient.Single(redisclient.Config{Addrs: []string{w.redis.Addr()}, Timeout: patience})
	w.endings = append(w.endings, w.client.Close)
	w.ledgers = newLedgers(w.client)
	w.crowd = &crowd{URL: w.url, Buyers: s.Buyers, Timeout: requestTimeout, Pause: pauseAfterRefusal, NewKey: uuid.NewString}
	return w.run(ctx)
}

func (w *world) run(ctx context.Context) (Record, error) {
	w.record = Record{Lock: w.Lock, Began: time.Now().Add(warmUp)}
	open, shut := context.WithCancel(ctx)
	defer shut()
	sales := make(chan []Sale, 1)
	go func() { sales <- w.crowd.Buy(ctx, open) }()
	watching, leave := context.WithCancel(ctx)
	defer leave()
	looks := make(chan []Look, 1)
	go func() { looks <- w.watch(watching) }()

	err := wait(ctx, warmUp+quiet)
	for i := 0; err == nil && i < len(w.Plan); i++ {
		injected := w.inject(ctx, w.Plan[i])
		if injected.Error != "" {
			w.tell("%s: %s", injected.Kind, injected.Error)
		}
		w.record.Faults = append(w.record.Faults, injected)
		err = wait(ctx, rest)
	}
	w.record.Ended = time.Now()
	shut()
	w.record.Sales = <-sales
	leave()
	w.record.Looks = append(w.record.Looks, <-looks...)
	if err == nil {
		err = w.finish(ctx)
	}
	for i := 0; err == nil && i < len(w.record.Sales); i++ {
		if sale := w.record.Sales[i]; sale.outcome() == unknown && sale.OrderID != "" {
			w.record.Doubts = append(w.record.Doubts, w.lookUp(ctx, sale.OrderID))
			err = context.Cause(ctx)
		}
	}
	w.record.Orders, w.record.Said = w.ledgers.Entries, w.cluster.Said()
	return w.record, err
}

func (w *world) tell(format string, args ...any) {
	w.telling.Lock()
	defer w.telling.Unlock()
	since := time.Since(w.record.Began).Truncate(time.Second)
	w.Log("%6s  %7d sales  %s", since, w.crowd.Sold(), fmt.Sprintf(format, args...))
}

func (w *world) look(ctx context.Context) error {
	if err := w.ledgers.Read(ctx); err != nil {
		return err
	}
	look, err := lookAt(ctx, w.client)
	if err == nil {
		w.record.Looks = append(w.record.Looks, look)
	}
	return err
}

// watch looks at the run again and again, until ctx ends. What a fault keeps it from seeing it does not see.
func (w *world) watch(ctx context.Context) (looks []Look) {
	client := redisclient.Single(redisclient.Config{Addrs: []string{w.redis.Addr()}, PoolSize: 1})
	defer func() { _ = client.Close() }() // it was only asked
	told, sold := time.Now(), int64(0)
	for wait(ctx, watchEvery) == nil {
		if !w.gone.Load() {
			if look, err := lookAt(ctx, client); err == nil {
				looks = append(looks, look)
			}
		}
		if since := time.Since(told); since >= tellEvery {
			n := w.crowd.Sold()
			w.tell("%.0f a second", float64(n-sold)/since.Seconds())
			told, sold = time.Now(), n
		}
	}
	return looks
}

// finish reads the ledgers for the last time, when no sale is in flight any more.
func (w *world) finish(ctx context.Context) error {
	err := try(ctx, fmt.Errorf("sales are in flight %v after the last buyer left", patience), func() error {
		n, err := inFlight(ctx, w.client)
		if n > 0 {
			err = fmt.Errorf("%d", n)
		}
		return err
	})
	if err != nil {
		return err
	}
	return w.look(ctx)
}
