package explore

import (
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"

	"lockstep/internal/dao"
	"lockstep/internal/evolution"
	"lockstep/internal/history"
	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// arena is what an exploring worker keeps from one schedule to the next.
type arena struct {
	strategy evolution.Strategy
	bounds   Bounds
	memory   *memory
	wires    []*wire // a replica each
	stores   []*dao.Store
	start    *state
	seeds    [2]maphash.Seed
	buffer   []byte
}

func newArena(strategy evolution.Strategy, scenario Scenario, bounds Bounds, seeds [2]maphash.Seed) (*arena, error) {
	m, err := newMemory()
	if err != nil {
		return nil, err
	}
	a := &arena{strategy: strategy, bounds: bounds, memory: m, seeds: seeds}
	a.start = m.intern([]entry{{name: dao.InventoryKey, kind: "string", values: []string{fmt.Sprint(stock)}}})
	for range scenario.Processes() {
		w, err := newWire(m)
		if err != nil {
			return nil, err
		}
		a.wires = append(a.wires, w)
		a.stores = append(a.stores, dao.NewStore(w.client, runID))
	}
	return a, nil
}

func (a *arena) close() {
	for _, w := range a.wires {
		_ = w.client.Close() // there is nothing behind it
	}
	a.memory.server.Close()
}

// newWorld begins a schedule.
func (a *arena) newWorld(scenario Scenario) *world {
	w := &world{arena: a, scenario: scenario, left: scenario.Faults, redis: a.start}
	w.judge = judge{scope: a.strategy.Scope, holder: -1}
	lockers := make([]lock.Locker, scenario.Processes())
	for i := range lockers {
		p := &replica{name: "replica" + fmt.Sprint(i+1)}
		if scenario.apart() {
			p.name = string(rune('A' + i))
		}
		w.replicas = append(w.replicas, p)
		a.wires[i].world = w
		lockers[i] = a.strategy.New(a.wires[i].client, lock.Options{
			Key: lock.Key, TTL: ttl, RetryInterval: retry, WaitTimeout: forever, Clock: virtualClock{w, p, retry},
			Process: p.name, MaxPasses: maxPasses, Bell: virtualBell{w, p},
		})
	}
	for i := range scenario.Actors {
		p := w.replicas[i%len(w.replicas)]
		b := &actor{index: i, name: string(rune('A' + i)), replica: p, try: i < scenario.Try}
		p.actors = append(p.actors, b)
		w.actors = append(w.actors, b)
		ctx, leave := context.WithCancel(context.Background())
		b.leave = leave
		sale := service.Sale{
			Locker: watched{w, b, lockers[i%len(lockers)]}, Stock: a.stores[i%len(lockers)], Clock: virtualClock{w, p, 0},
			Log: slog.New(slog.DiscardHandler), Watch: nobody{}, Replica: p.name, Think: scenario.Work, Nested: scenario.Nested,
			Way: a.strategy.Way, Retry: service.Retry{
				Pause: retry, Within: forever, Clock: virtualClock{w, p, retry}, Rand: func(n int64) int64 { return n - 1 },
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
