package dao_test

import (
	"encoding/json"
	"errors"
	"testing"

	"lockstep/internal/dao"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/internal/test/redistest"
)

// eachRedis runs a test on an embedded Redis and on a real one.
func eachRedis(t *testing.T, test func(*testing.T, *dao.Redis)) {
	t.Helper()
	open := func(t *testing.T, cfg dao.Config) {
		t.Helper()
		r, err := dao.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		test(t, r)
	}
	t.Run("embedded", func(t *testing.T) { open(t, dao.Config{EmbeddedAddr: "127.0.0.1:0"}) })
	t.Run("real", func(t *testing.T) { open(t, dao.Config{Addrs: []string{redistest.Start(t).Addr}}) })
}

func TestTake(t *testing.T) {
	eachRedis(t, func(t *testing.T, r *dao.Redis) {
		store, redis := dao.NewStore(r.Store, "instance", 100), r.Store
		order := history.Order{ID: "one", RunID: "run", Lock: "atomic", Owner: `"quoted"`}
		for _, c := range []struct {
			stock string // "": none
			err   error
			after string
		}{
			{"1000000000", nil, "999999999"},
			{"2", nil, "1"},
			{"0", service.ErrSoldOut, "0"},
			{"-1", service.ErrBadStock, "-1"},
			{"+5", service.ErrBadStock, "+5"},
			{"many", service.ErrBadStock, "many"},
			{"", service.ErrRunOver, ""},
		} {
			redis.FlushAll(t.Context())
			redis.HSet(t.Context(), dao.RunKey, "id", order.RunID)
			if c.stock != "" {
				redis.Set(t.Context(), dao.InventoryKey, c.stock, 0)
			}
			got, err := store.Take(t.Context(), order)
			if !errors.Is(err, c.err) || redis.Get(t.Context(), dao.InventoryKey).Val() != c.after {
				t.Errorf("Take of %q: %v, stock %q; want %v, stock %q", c.stock, err, redis.Get(t.Context(), dao.InventoryKey).Val(), c.err, c.after)
			}
			var kept history.Order
			newest, _ := dao.OrdersKeys("run")
			lines := redis.HVals(t.Context(), newest).Val()
			if (len(lines) == 1) != (c.err == nil) {
				t.Fatalf("Take of %q wrote %d orders", c.stock, len(lines))
			}
			if c.err != nil {
				continue
			}
			if err := json.Unmarshal([]byte(lines[0]), &kept); err != nil || kept != got || got.After != got.Before-1 {
				t.Errorf("the ledger has %+v, %v; the buyer has %+v", kept, err, got)
			}
		}
		redis.Del(t.Context(), dao.InventoryKey)
		redis.LPush(t.Context(), dao.InventoryKey, "a list")
		if _, err := store.Take(t.Context(), order); !errors.Is(err, service.ErrBadStock) {
			t.Errorf("Take of a list: %v; want ErrBadStock", err)
		}
	})
}

func TestWatch(t *testing.T) {
	eachRedis(t, func(t *testing.T, r *dao.Redis) {
		store := dao.NewStore(r.Store, "instance", 100)
		r.Store.Set(t.Context(), dao.InventoryKey, 5, 0)
		r.Store.HSet(t.Context(), dao.RunKey, "id", "run")
		sell := func(meanwhile func()) error {
			return store.Watch(t.Context(), func(stock service.Stock) error {
				before, err := stock.Read(t.Context(), history.Order{})
				if err != nil {
					return err
				}
				meanwhile()
				return stock.Write(t.Context(), history.Order{RunID: "run", Before: before, After: before - 1})
			})
		}
		if err := sell(func() {}); err != nil {
			t.Error(err)
		}
		if err := sell(func() { r.Store.Set(t.Context(), dao.InventoryKey, 3, 0) }); !errors.Is(err, service.ErrConflict) {
			t.Errorf("a sale that another came before: %v; want ErrConflict", err)
		}
		gone := errors.New("the buyer went away")
		err := store.Watch(t.Context(), func(service.Stock) error { return gone })
		r.Store.Set(t.Context(), dao.InventoryKey, 3, 0) // no connection watches any more, or the next would be refused
		if !errors.Is(err, gone) || sell(func() {}) != nil {
			t.Errorf("a sale that was given up: %v", err)
		}
		stock, sold := r.Store.Get(t.Context(), dao.InventoryKey).Val(), r.Store.HGet(t.Context(), dao.RunKey, "sold").Val()
		if stock != "2" || sold != "2" {
			t.Errorf("the stock is %s after %s orders; want 2 after 2", stock, sold)
		}
	})
}
