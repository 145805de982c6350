package explore

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/history"
	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/strategy"
)

// maxOrders is more than anybody writes here.
const maxOrders = 1000

// arena is what an exploring worker keeps from one schedule to the next.
type arena struct {
	strategy strategy.Strategy
	bounds   Bounds
	memory   *memory
	wires    [][]*wire // of each replica, to each server
	stores   []*dao.Store
	nodes    int    // that the lock is on, beside the Redis with the stock
	start    *state // of the Redis with the stock
	empty    *state // of the nodes
	seeds    [2]maphash.Seed
	buffer   []byte
}

func newArena(strategy strategy.Strategy, scenario Scenario, bounds Bounds, seeds [2]maphash.Seed) (*arena, error) {
	m, err := newMemory()
	if err != nil {
		return nil, err
	}
	a := &arena{strategy: strategy, bounds: bounds, memory: m, seeds: seeds, empty: m.intern(nil)}
	a.start = m.intern([]entry{{name: dao.InventoryKey, kind: "string", values: []string{fmt.Sprint(stock)}}})
	if strategy.OnNodes {
		a.nodes = cmp.Or(scenario.Nodes, 3)
	}
	for range scenario.Processes() {
		var wires []*wire
		for server := range 1 + a.nodes {
			w, err := newWire(m, server)
			if err != nil {
				return nil, err
			}
			wires = append(wires, w)
		}
		a.wires = append(a.wires, wires)
		a.stores = append(a.stores, dao.NewStore(wires[0].client, runID, maxOrders))
	}
	return a, nil
}

func (a *arena) close() {
	for _, w := range slices.Concat(a.wires...) {
		_ = w.client.Close() // there is nothing behind it
	}
	a.memory.server.Close()
}

// highest is what chance gives: always the same, or no schedule could be run again.
func highest(n int64) int64 { return n - 1 }

// newWorld begins a schedule.
func (a *arena) newWorld(scenario Scenario) *world { return a.worldOf(scenario, 'A') }

// worldOf begins a schedule of actors whose names begin with this letter.
func (a *arena) worldOf(scenario Scenario, first rune) *world {
	w := &world{arena: a, scenario: scenario, left: scenario.Faults}
	w.servers = []*server{{holds: a.start, holder: -1, heir: -1}}
	for i := range a.nodes {
		w.servers = append(w.servers, &server{index: i + 1, holds: a.empty, holder: -1, heir: -1})
	}
	w.judge = judge{scope: a.strategy.Scope, holder: -1}
	lockers := make([]lock.Locker, scenario.Processes())
	for i := range lockers {
		p := &replica{
			name:    "replica" + fmt.Sprint(int(first-'A')+i+1),
			ahead:   scenario.Skew * time.Duration(i),
			answers: make([][2]uint64, len(w.servers)),
		}
		if scenario.apart() {
			p.name = string(first + rune(i))
		}
		w.replicas = append(w.replicas, p)
		var nodes []redis.Cmdable
		for server, wire := range a.wires[i] {
			wire.world = w
			if server > 0 {
				nodes = append(nodes, wire.client)
			}
		}
		lockers[i] = a.strategy.New(strategy.Parts{
			Options: lock.Options{Key: lock.Key, TTL: ttl, RetryInterval: retry, WaitTimeout: forever, Clock: virtualClock{w, p, retry}},
			Client:  a.wires[i][0].client, Nodes: nodes, Process: p.name, HandOffLimit: maxPasses, Notifier: virtualNotifier{w, p}, Rand: highest,
		})
	}
	for i := range scenario.Actors {
		p := w.replicas[i%len(w.replicas)]
		b := &actor{index: i, name: string(first + rune(i)), replica: p, try: i < scenario.Try}
		p.actors = append(p.actors, b)
		w.actors = append(w.actors, b)
		ctx, leave := context.WithCancel(context.Background())
		b.leave = leave
		sale := service.Sale{
			Locker: watched{w, b, lockers[i%len(lockers)]}, Stock: a.stores[i%len(lockers)], Clock: virtualClock{w, p, 0},
			Log: slog.New(slog.DiscardHandler), Observer: nobody{}, Replica: p.name, Think: scenario.Work, Nested: scenario.Nested,
			Update: a.strategy.Update, Backoff: service.Backoff{
				Delay: retry, MaxDuration: forever, Clock: virtualClock{w, p, retry}, Rand: highest,
			},
		}
		b.main = w.spawn(b, func() {
			_, b.err = sale.Sell(ctx, history.Run{ID: runID, Lock: a.strategy.Name, Initial: stock}, b.name)
			b.finished = true
		})
	}
	w.ready = nil // they start when they are chosen
	return w
}
