package dao_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"lockstep/internal/dao"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/internal/test/redisserver"
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
	t.Run("real", func(t *testing.T) { open(t, dao.Config{Addrs: []string{redisserver.Start(t).Addr}}) })
}

func TestTakeSellsUnlessStockChanged(t *testing.T) {
	eachRedis(t, func(t *testing.T, r *dao.Redis) {
		store, redis := dao.NewStore(r.Store, "instance", 100), r.Store
		order := history.Order{ID: "one", RunID: "run", Lock: "atomic", Owner: `"quoted"`}
		for _, c := range []struct {
			name           string
			written, stock string // "": none
			err            error
			after          string
		}{
			{name: "largest stock", written: "1000000000", stock: "1000000000", after: "999999999"},
			{name: "stock left", written: "2", stock: "2", after: "1"},
			{name: "sold out", written: "0", stock: "0", err: service.ErrSoldOut, after: "0"},
			{name: "stock changed by hand", written: "2", stock: "3", err: service.ErrRunChanged, after: "3"},
			{name: "stock that is no number", written: "2", stock: "many", err: service.ErrRunChanged, after: "many"},
			{name: "stock deleted", written: "2", err: service.ErrRunChanged},
		} {
			t.Run(c.name, func(t *testing.T) {
				redis.FlushAll(t.Context())
				redis.HSet(t.Context(), dao.RunKey, "id", order.RunID, "written", c.written)
				if c.stock != "" {
					redis.Set(t.Context(), dao.InventoryKey, c.stock, 0)
				}
				got, err := store.Take(t.Context(), order)
				if !errors.Is(err, c.err) || redis.Get(t.Context(), dao.InventoryKey).Val() != c.after {
					t.Errorf("got %v, stock %q; want %v, stock %q", err, redis.Get(t.Context(), dao.InventoryKey).Val(), c.err, c.after)
				}
				var ledgerOrder history.Order
				newest, _ := dao.OrdersKeys("run")
				lines := redis.HVals(t.Context(), newest).Val()
				if (len(lines) == 1) != (c.err == nil) {
					t.Fatalf("got %d orders", len(lines))
				}
				if c.err != nil {
					return
				}
				if err := json.Unmarshal([]byte(lines[0]), &ledgerOrder); err != nil || ledgerOrder != got || got.After != got.Before-1 {
					t.Errorf("the ledger has %+v, %v; the buyer has %+v", ledgerOrder, err, got)
				}
			})
		}
		redis.Del(t.Context(), dao.InventoryKey)
		redis.LPush(t.Context(), dao.InventoryKey, "a list")
		if _, err := store.Take(t.Context(), order); !errors.Is(err, service.ErrRunChanged) {
			t.Errorf("Take of a list: %v; want ErrRunChanged", err)
		}
	})
}

func TestWatchReturnsErrConflict(t *testing.T) {
	eachRedis(t, func(t *testing.T, r *dao.Redis) {
		store := dao.NewStore(r.Store, "instance", 100)
		r.Store.Set(t.Context(), dao.InventoryKey, 5, 0)
		r.Store.HSet(t.Context(), dao.RunKey, "id", "run", "written", 5)
		set := func(stock int) {
			r.Store.Set(t.Context(), dao.InventoryKey, stock, 0)
			r.Store.HSet(t.Context(), dao.RunKey, "written", stock)
		}
		n := 0
		sell := func(meanwhile func()) error {
			return store.Watch(t.Context(), func(stock service.Stock) error {
				before, err := stock.Read(t.Context(), history.Order{})
				if err != nil {
					return err
				}
				meanwhile()
				n++
				_, err = stock.Write(t.Context(), history.Order{ID: fmt.Sprint(n), RunID: "run", Before: before, After: before - 1})
				return err
			})
		}
		if err := sell(func() {}); err != nil {
			t.Error(err)
		}
		if err := sell(func() { set(3) }); !errors.Is(err, service.ErrConflict) {
			t.Errorf("a sale that another came before: %v; want ErrConflict", err)
		}
		gone := errors.New("the buyer went away")
		err := store.Watch(t.Context(), func(service.Stock) error { return gone })
		set(3) // no connection watches any more, or the next would be refused
		if !errors.Is(err, gone) || sell(func() {}) != nil {
			t.Errorf("a sale that was given up: %v", err)
		}
		stock, sold := r.Store.Get(t.Context(), dao.InventoryKey).Val(), r.Store.HGet(t.Context(), dao.RunKey, "sold").Val()
		if stock != "2" || sold != "2" {
			t.Errorf("the stock is %s after %s orders; want 2 after 2", stock, sold)
		}
	})
}

// An order is written once, even if another replica repeats it by another operation. Every repeat returns the first order.
func TestRepeatedWriteReturnsFirstOrder(t *testing.T) {
	eachRedis(t, func(t *testing.T, r *dao.Redis) {
		store := dao.NewStore(r.Store, "instance", 2) // two in a hash
		run := history.Run{ID: "run", Lock: "v7", Initial: 9}
		if err := store.Start(t.Context(), history.Run{}, run); err != nil {
			t.Fatal(err)
		}
		write := func(order history.Order) (history.Order, error) { return store.Write(t.Context(), order) }
		take := func(order history.Order) (history.Order, error) { return store.Take(t.Context(), order) }
		watchedStock := func(order history.Order) (sold history.Order, err error) {
			err = store.Watch(t.Context(), func(stock service.Stock) (err error) {
				sold, err = stock.Write(t.Context(), order)
				return err
			})
			return sold, err
		}
		writers := map[string]func(history.Order) (history.Order, error){"Write": write, "Take": take, "watched Write": watchedStock}
		stock := int64(9)
		for _, first := range []string{"Write", "Take", "watched Write"} { // the first one's hash is the older one by the third
			order := history.Order{ID: "by " + first, RunID: run.ID, Before: stock, After: stock - 1, Replica: "a"}
			stock--
			sold, err := writers[first](order)
			if err != nil || sold != order {
				t.Fatalf("%s: %+v, %v; want %+v", first, sold, err, order)
			}
			repeat := history.Order{ID: order.ID, RunID: run.ID, Before: 5, After: 4, Replica: "b", Fence: 1}
			for second, writer := range writers {
				if got, err := writer(repeat); err != nil || got != sold {
					t.Errorf("%s after %s: %+v, %v; want %+v", second, first, got, err, sold)
				}
			}
		}
		tally, err := store.Tally(t.Context())
		if err != nil || tally.Sold != 3 || tally.Remaining != 6 {
			t.Errorf("%+v, %v; want three sold of 9", tally, err)
		}
		if order, err := write(history.Order{ID: "by Write", RunID: "another"}); !errors.Is(err, service.ErrRunOver) {
			t.Errorf("in another run: %+v, %v", order, err)
		}
	})
}

// A stock that was changed by hand is not overwritten.
func TestManualStockIsNotOverwritten(t *testing.T) {
	eachRedis(t, func(t *testing.T, r *dao.Redis) {
		store := dao.NewStore(r.Store, "instance", 4)
		if err := store.Start(t.Context(), history.Run{}, history.Run{ID: "run", Initial: 9}); err != nil {
			t.Fatal(err)
		}
		r.Store.Set(t.Context(), dao.InventoryKey, 1000, 0)
		order := history.Order{ID: "one", RunID: "run", Before: 9, After: 8}
		_, writeErr := store.Write(t.Context(), order)
		_, takeErr := store.Take(t.Context(), order)
		for operation, err := range map[string]error{"Write": writeErr, "Take": takeErr} {
			if !errors.Is(err, service.ErrRunChanged) {
				t.Errorf("%s: %v; want ErrRunChanged", operation, err)
			}
		}
		if stock := r.Store.Get(t.Context(), dao.InventoryKey).Val(); stock != "1000" {
			t.Errorf("the stock is %s; want 1000", stock)
		}
	})
}
