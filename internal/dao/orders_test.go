package dao_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"lockstep/internal/dao"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/internal/test/redisserver"
)

// The ledger keeps the newest orders, of the run that is on and of those before; whatever it forgets, it has counted.
func TestLedgerDropsOldestOrders(t *testing.T) {
	for name, sell := range map[string]func(*dao.Store, context.Context, history.Order) error{
		"Write": func(s *dao.Store, ctx context.Context, order history.Order) error {
			_, err := s.Write(ctx, order)
			return err
		},
		"Take": func(s *dao.Store, ctx context.Context, order history.Order) error {
			_, err := s.Take(ctx, order)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { testLedgerDropsOldestOrders(t, sell) })
	}
}

func testLedgerDropsOldestOrders(t *testing.T, sellOne func(*dao.Store, context.Context, history.Order) error) {
	t.Helper()
	eachRedis(t, func(t *testing.T, r *dao.Redis) {
		const bound = 20
		store := dao.NewStore(r.Store, "test", bound)
		id := func(run, n int) string { return fmt.Sprintf("%d.%d", run, n) }
		kept := func(run, sold int) (n int) {
			for i := range sold {
				order, err := store.Order(t.Context(), id(run, i))
				switch {
				case err == nil && order.ID == id(run, i):
					n++
				case !errors.Is(err, service.ErrNoOrder) || n > 0:
					t.Errorf("order %s: %+v, %v; want the oldest forgotten first", id(run, i), order, err)
				}
			}
			return n
		}
		last := history.Run{}
		sell := func(run, sold int) {
			t.Helper()
			next := history.Run{ID: fmt.Sprint("run", run), Initial: 100}
			if err := store.Start(t.Context(), last, next); err != nil {
				t.Fatal(err)
			}
			last = next
			for i := range sold {
				order := history.Order{ID: id(run, i), RunID: next.ID, After: int64(100 - i)}
				if err := sellOne(store, t.Context(), order); err != nil {
					t.Fatal(err)
				}
			}
			tally, err := store.Tally(t.Context())
			if err != nil || tally.Sold != int64(sold) {
				t.Errorf("run %d: %+v, %v; want %d sold", run, tally, err, sold)
			}
		}
		sell(1, 5)
		sell(2, 7)
		sell(3, 75)
		if n := kept(3, 75); n < bound || n > 2*bound {
			t.Errorf("%d orders of the run that is on are kept; want %d to %d", n, bound, 2*bound)
		}
		if kept(1, 5) != 5 || kept(2, 7) != 7 {
			t.Error("the runs before, small as they are, are forgotten")
		}
		sell(4, 3) // the third is before now, and leaves no room for those before it
		if kept(1, 5)+kept(2, 7) != 0 || kept(3, 75) == 0 || kept(4, 3) != 3 {
			t.Errorf("kept of the first four runs: %d, %d, %d, %d", kept(1, 5), kept(2, 7), kept(3, 75), kept(4, 3))
		}
		if n := r.Store.Keys(t.Context(), "{inventory}:ledger:*").Val(); len(n) > 3 {
			t.Errorf("there are still %v", n)
		}
		newest, _ := dao.OrdersKeys("run3")
		if ttl := r.Store.TTL(t.Context(), newest).Val(); ttl <= 0 {
			t.Errorf("the orders of a run that is over expire after %v", ttl)
		}
	})
}

// Old runs go when a Redis is out of memory; the sale that asked for it goes on.
func TestOutOfMemoryDeletesOldOrders(t *testing.T) {
	server := redisserver.Start(t)
	r, err := dao.Open(t.Context(), dao.Config{Addrs: []string{server.Addr}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	store := dao.NewStore(r.Store, "test", 100_000)
	first, second := history.Run{ID: "first", Initial: 10}, history.Run{ID: "second", Initial: 10}
	if err := store.Start(t.Context(), history.Run{}, first); err != nil {
		t.Fatal(err)
	}
	mustSucceed(t, store.Start(t.Context(), first, second))
	newest, _ := dao.OrdersKeys("first")
	fill := func() {
		mustSucceed(t, r.Store.ConfigSet(t.Context(), "maxmemory", "0").Err())
		mustSucceed(t, r.Store.LPush(t.Context(), "{inventory}:runs_over", "first").Err())
		for i := range 50 {
			mustSucceed(t, r.Store.HSet(t.Context(), newest, fmt.Sprint(i), fmt.Sprintf("%0100000d", i)).Err())
		}
		mustSucceed(t, r.Store.ConfigSet(t.Context(), "maxmemory", "4mb").Err())
	}
	for name, sell := range map[string]func(id string) error{
		"write": func(id string) error {
			_, err := store.Write(t.Context(), history.Order{ID: id, RunID: "second", After: 9})
			return err
		},
		"take": func(id string) error {
			_, err := store.Take(t.Context(), history.Order{ID: id, RunID: "second"})
			return err
		},
		"beat": func(string) error {
			_, err := store.Beat(t.Context(), service.Replica{Run: "second"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			fill()
			if err := sell(name); err != nil {
				t.Errorf("%s is refused, %v, though there was what could be forgotten", name, err)
			}
			if n := r.Store.Exists(t.Context(), newest).Val(); n != 0 {
				t.Errorf("after %s the old run's orders are still there", name)
			}
		})
	}
	if err := r.Store.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Take(t.Context(), history.Order{ID: "none", RunID: "second"}); err == nil {
		t.Error("a sale was made by a Redis that has no memory, and nothing to forget")
	}
}
