package soak

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/stage/replica"
)

// Session is a soak of one lock.
type Session struct {
	Program  string // lockstep itself
	Redis    string // the redis-server to start
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

// Run starts the shop, runs the buyers, and injects the faults of the plan. A fault that it cannot inject is in the record; any other
// failure is an error. Nothing is left of it, also if ctx ends before.
func (s Session) Run(ctx context.Context) (_ Record, err error) {
	if err := CheckLock(s.Lock); err != nil {
		return Record{}, err
	}
	if !replica.CanStop {
		return Record{}, replica.ErrNoSignals
	}
	shop, err := s.open(ctx)
	if err != nil {
		return Record{}, err
	}
	client := redisclient.Single(redisclient.Config{Addrs: []string{shop.redis.Addr()}, Timeout: patience})
	defer func() { err = errors.Join(err, shop.close(), client.Close()) }()
	w := world{
		Session: s, shop: shop, client: client, ledgers: NewLedgers(client),
		crowd: &Crowd{URL: shop.url, Buyers: s.Buyers, Timeout: requestTimeout, Pause: pauseAfterRefusal},
	}
	return w.run(ctx)
}

// world is what the faults are injected into.
type world struct {
	Session
	shop    *shop
	client  *redis.Client
	crowd   *Crowd
	ledgers *Ledgers
	record  Record
	telling sync.Mutex
	gone    atomic.Bool // whether Redis is: nobody looks at it then
}

func (w *world) run(ctx context.Context) (Record, error) {
	w.record = Record{Lock: w.Lock, Expiry: Expiry, Began: time.Now().Add(warmUp)}
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
			w.record.Doubts = append(w.record.Doubts, w.shop.lookUp(ctx, sale.OrderID))
			err = context.Cause(ctx)
		}
	}
	w.record.Orders, w.record.Said = w.ledgers.Entries(), w.shop.said.String()
	return w.record, err
}

// tell says how far it is.
func (w *world) tell(format string, args ...any) {
	w.telling.Lock()
	defer w.telling.Unlock()
	since := time.Since(w.record.Began).Truncate(time.Second)
	w.Log("%6s  %7d sales  %s", since, w.crowd.Sold(), fmt.Sprintf(format, args...))
}

// look reads the ledgers, and looks at the run.
func (w *world) look(ctx context.Context) error {
	if err := w.ledgers.Read(ctx); err != nil {
		return err
	}
	look, err := w.ledgers.Look(ctx)
	if err != nil {
		return err
	}
	w.record.Looks = append(w.record.Looks, look)
	return nil
}

// watch looks at the run again and again, until ctx ends. What a fault keeps it from seeing it does not see.
func (w *world) watch(ctx context.Context) (looks []Look) {
	client := redisclient.Single(redisclient.Config{Addrs: []string{w.shop.redis.Addr()}, PoolSize: 1})
	defer func() { _ = client.Close() }() // it was only asked
	ledgers, told, sold := NewLedgers(client), time.Now(), int64(0)
	for wait(ctx, watchEvery) == nil {
		if !w.gone.Load() {
			if look, err := ledgers.Look(ctx); err == nil {
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
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("sales are in flight %v after the last buyer left", patience))
	defer cancel()
	for {
		n, err := w.ledgers.InFlight(ctx)
		if err == nil && n == 0 {
			return w.look(ctx)
		}
		if wait(ctx, lookAgain) != nil {
			return fmt.Errorf("%w: %d: %w", context.Cause(ctx), n, err)
		}
	}
}
