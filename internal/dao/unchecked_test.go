package dao_test

import (
	"testing"

	"lockstep/internal/dao"
	"lockstep/internal/service/history"
)

// Take, unchecked, takes as often as it is asked, and the ledger has an order for each time. The order is found by its id.
func TestTakeUncheckedSellsAgain(t *testing.T) {
	eachRedis(t, func(t *testing.T, r *dao.Redis) {
		store, ctx := dao.NewStore(r.Store, "instance", 100), t.Context()
		r.Store.Set(ctx, dao.InventoryKey, 5, 0)
		r.Store.HSet(ctx, dao.RunKey, "id", "run", "written", 5)
		for _, left := range []int64{4, 3} {
			got, err := store.TakeUnchecked(ctx, history.Order{ID: "one", RunID: "run"})
			if err != nil || got.ID != "one" || got.After != left {
				t.Errorf("%+v, %v; want one, and %d left", got, err, left)
			}
		}
		newest, _ := dao.OrdersKeys("run")
		if orders, sold := r.Store.HKeys(ctx, newest).Val(), r.Store.HGet(ctx, dao.RunKey, "sold").Val(); len(orders) != 2 || sold != "2" {
			t.Errorf("the ledger has %v, and %s were sold", orders, sold)
		}
		if !r.Store.HExists(ctx, newest, "one").Val() {
			t.Error("nobody finds the order by its id")
		}
	})
}
