//go:build unix

package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/redisclient"
)

// Redis is the process of the shop's Redis.
type Redis interface {
	Signal(signal os.Signal) error
	Stop() // kills it
	Run()  // starts it again, empty
}

// Session is one lock under chaos.
type Session struct {
	Program string // lockstep, built
	Dir     string // an empty one, for it to run in
	Said    io.Writer
	Log     func(format string, args ...any)
	Lock    string
	Plan    []Fault
	Redis   Redis
	Addr    string // of Redis
	Buyers  int
	Timeout time.Duration // of one request of a buyer
}

const pauseAfterRefusal = 50 * time.Millisecond

// Run starts the shop, lets the buyers loose, and injects the faults of the plan. What it cannot do is an error; a fault that it cannot
// inject is in the record.
func (s Session) Run(ctx context.Context) (_ Record, err error) {
	if err := CheckLock(s.Lock); err != nil {
		return Record{}, err
	}
	shop, err := openShop(s.Program, s.Lock, s.Addr, s.Dir, s.Said)
	if err != nil {
		return Record{}, err
	}
	client := redisclient.Single(redisclient.Config{Addrs: []string{s.Addr}, Timeout: patience})
	defer func() { err = errors.Join(err, shop.close(), client.Close()) }()
	world := world{Session: s, shop: shop, client: client, ledgers: NewLedgers(client)}

	record := Record{Lock: s.Lock, Fenced: fenced()[s.Lock], Expiry: Expiry}
	buying, leave := context.WithCancel(ctx)
	defer leave()
	sales := make(chan []Sale, 1)
	crowd := Crowd{URL: shop.url, Buyers: s.Buyers, Timeout: s.Timeout, Pause: pauseAfterRefusal}
	go func() { sales <- crowd.Buy(buying) }()
	err = wait(ctx, warmUp)
	record.Began = time.Now()
	if err == nil {
		err = wait(ctx, quiet)
	}
	for i := 0; err == nil && i < len(s.Plan); i++ {
		injected := world.inject(ctx, s.Plan[i])
		s.Log("%s %s %s %s", record.at(injected.Begin), injected.Kind, injected.Victim, injected.Error)
		record.Faults = append(record.Faults, injected)
		err = wait(ctx, rest)
	}
	record.Ended = time.Now()
	leave()
	record.Sales = <-sales
	if err == nil {
		err = world.finish(ctx)
	}
	for _, sale := range record.Sales {
		if sale.outcome() == unknown && sale.OrderID != "" {
			record.Doubts = append(record.Doubts, shop.lookUp(ctx, sale.OrderID))
		}
	}
	record.Orders, record.Looks = world.ledgers.Entries(), world.looks
	return record, err
}

// world is what faults fall on.
type world struct {
	Session
	shop    *shop
	client  *redis.Client
	ledgers *Ledgers
	looks   []Look
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
	w.looks = append(w.looks, look)
	return nil
}

// finish reads the ledgers for the last time: when no sale is in flight any more.
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
