package cli

import (
	"fmt"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"

	"lockstep/internal/lock/verdict"
	"lockstep/internal/service/history"
	"lockstep/internal/shop/api"
	"lockstep/internal/test/redistest"
)

// A stock that is set by hand while buyers buy is written over by nobody: each sale that met it is made in the run that begins with it.
func TestStockSetByHandAmongSales(t *testing.T) {
	t.Parallel()
	addr := redistest.Start(t).Addr
	a, b := start(t, "--redis.addrs", addr), start(t, "--redis.addrs", addr)
	for _, version := range []string{"v4", "v11", "atomic", "optimistic"} {
		a.ask("PUT", "/lock", fmt.Sprintf(`{"version":%q}`, version), nil)
		var done atomic.Bool
		var mu sync.Mutex
		sold := map[string]int64{} // by run: how many orders were answered
		var buyers sync.WaitGroup
		for _, s := range []*testServer{a, b} {
			for range 8 {
				buyers.Go(func() {
					for !done.Load() {
						var sale api.SaleAnswer
						if status := s.ask("POST", "/inventory/sale", "", &sale); status != 200 {
							t.Errorf("%s: a sale ends with %d", version, status)
							return
						}
						mu.Lock()
						sold[sale.RunID]++
						mu.Unlock()
					}
				})
			}
		}
		var run history.Report
		for _, stock := range []int64{1000, 5000, 900_000} {
			if err := a.outside.Set(t.Context(), "inventory", stock, 0).Err(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the run of the stock that was set sells", func() bool {
				run = b.report()
				return run.Initial == stock && run.Sold > 20
			})
		}
		done.Store(true)
		buyers.Wait()
		run = b.report()
		if n := sold[run.RunID]; run.Initial != 900_000 || run.Lost != 0 || run.Sold != n || run.Verdict != verdict.Pass {
			t.Errorf("%s: %+v, and %d answers; want them to agree", version, run, n)
		}
	}
}

// A replica does not say of another one's sale that it was not made while it goes on.
func TestAnOrderInFlightElsewhere(t *testing.T) {
	t.Parallel()
	addr := redistest.Start(t).Addr
	a, b := start(t, "--redis.addrs", addr, "--sale.think_time", "1m"), start(t, "--redis.addrs", addr)
	look := func(id string) string {
		var answer api.ErrorAnswer
		b.ask("GET", "/orders/"+id, "", &answer)
		return answer.Error.Code
	}
	if code := look("none"); code != "no_order" {
		t.Errorf("of a sale that nobody makes: %s", code)
	}
	leave := a.sellsOn()
	id := regexp.MustCompile(`"sales":\["([^"]+)"\]`)
	var found []string
	eventually(t, "a tells that the sale goes on", func() bool {
		for _, told := range a.outside.HGetAll(t.Context(), "{inventory}:replicas").Val() {
			if found = id.FindStringSubmatch(told); found != nil {
				return true
			}
		}
		return false
	})
	if code := look(found[1]); code != "order_in_flight" {
		t.Errorf("while it goes on: %s", code)
	}
	leave()
	eventually(t, "it has ended", func() bool { return look(found[1]) == "no_order" })
}
