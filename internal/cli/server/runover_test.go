package server_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"lockstep/internal/evolution"
	"lockstep/internal/service/history"
	"lockstep/internal/shop/api"
	"lockstep/internal/test/redistest"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
	"lockstep/internal/verdict"
)

// Every sale writes into its own run alone: when that is over before it wrote, it was not made, and begins anew in the next run. Two
// replicas; one's sale thinks.
func TestNoRunWritesIntoAnother(t *testing.T) {
	t.Parallel()
	versions := []string{"v0", "v6", "v11", "atomic", "optimistic"} // each writes in its own way
	if suite.Long {
		versions = []string{"v0", "v1", "v4", "v6", "v7", "v9", "v10", "v11", "atomic", "optimistic"}
	}
	suite.Together(t, versions, func(t *testing.T, version string) {
		row, err := evolution.Find(version)
		if err != nil {
			t.Fatal(err)
		}
		addr := redistest.Start(t).Addr
		a := shoptest.Start(t, "--redis.addrs", addr, "--lock.version", version, "--lock.ttl", "1s", "--sale.think_time", "2500ms")
		b := shoptest.Start(t, "--redis.addrs", addr, "--lock.ttl", "1s")
		for _, c := range []struct {
			what   string
			change func()
		}{
			{"Redis forgot everything, and a new run began", func() {
				a.Outside.FlushAll(t.Context())
				b.Report()
			}},
			{"Redis forgot everything", func() { a.Outside.FlushAll(t.Context()) }},
			{"its replica counted as dead, and a new run began", func() {
				a.Own.StopBeating()
				a.Outside.Del(t.Context(), "{inventory}:replicas", "distributedLock")
				if status := b.Ask("PUT", "/inventory", `{"stock":500}`, nil); status != 200 {
					t.Errorf("PUT /inventory: %d", status)
				}
			}},
		} {
			var before history.Report
			var sold struct {
				RunID string `json:"run_id"`
				Error struct{ Code string }
			}
			for attempt := 0; sold.RunID == before.RunID && attempt < 3; attempt++ { // a slow machine may sell before the run ends
				before = b.Report()
				answered := make(chan string, 1)
				go func() {
					_, text := a.Send("POST", "/inventory/sale", "")
					answered <- text
				}()
				suite.Eventually(t, "the sale is in flight", func() bool { return a.Report().InFlight == 1 })
				c.change()
				sold.RunID = ""
				if err := json.Unmarshal([]byte(<-answered), &sold); err != nil {
					t.Fatal(err)
				}
			}
			run, pieces := b.Report(), int64(1)
			if code := sold.Error.Code; code != "" { // where the lock went with the run, and was known to be lost
				pieces = 0
				if code != "lock_lost" || !row.Capabilities.Renewed {
					t.Errorf("%s: %s; want the sale in the next run", c.what, code)
				}
			}
			if run.RunID == before.RunID || run.Sold != pieces || run.Lost != 0 || run.Remaining != run.Initial-pieces || run.Lock != version {
				t.Errorf("%s: the next run is %+v; want %d sold", c.what, run, pieces)
			}
		}
	})
}

// What a process still has of the lock of a run that Redis forgot, its place and its tokens, is passed to no sale of the next run. Else
// the store would have seen a token that the lock, counting anew, reaches much later.
func TestTheNextRunsTokensCount(t *testing.T) {
	t.Parallel()
	addr := redistest.Start(t).Addr
	a := shoptest.Start(t, "--redis.addrs", addr, "--lock.version", "v10", "--sale.think_time", "100ms")
	b := shoptest.Start(t, "--redis.addrs", addr)
	for range 2 {
		a.Ask("PUT", "/inventory", `{"stock":200}`, nil)
		answers := make(chan string, 20)
		sell := func(n int) {
			for range n {
				go func() {
					_, text := a.Send("POST", "/inventory/sale", "")
					answers <- text
				}()
			}
		}
		sell(10)
		suite.Eventually(t, "a sale is in flight, and others wait", func() bool { return a.Report().InFlight >= 3 })
		if err := b.Outside.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		next := b.Report().RunID
		sell(10)
		sold := 0
		for range 20 {
			var answer struct {
				RunID string `json:"run_id"`
				Error struct{ Code, Message string }
			}
			text := <-answers
			if err := json.Unmarshal([]byte(text), &answer); err != nil {
				t.Fatal(err)
			}
			if answer.RunID == next {
				sold++
			}
			if code := answer.Error.Code; code != "" && code != "run_over" && code != "lock_lost" {
				t.Errorf("a sale of the run that was forgotten: %s", text)
			}
		}
		for range 3 {
			if status, code := b.Sell(); status != 200 {
				t.Fatalf("the other replica's sale in the next run: %d %s", status, code)
			}
		}
		if sold < 10 {
			t.Errorf("%d of 10 sales were made in the next run", sold)
		}
	}
}

// A stock that is set by hand while buyers buy is written over by nobody: each sale that met it is made in the run that begins with it.
func TestStockSetByHandAmongSales(t *testing.T) {
	t.Parallel()
	addr := redistest.Start(t).Addr
	a, b := shoptest.Start(t, "--redis.addrs", addr), shoptest.Start(t, "--redis.addrs", addr)
	for _, version := range []string{"v4", "v11", "atomic", "optimistic"} {
		a.Ask("PUT", "/lock", fmt.Sprintf(`{"version":%q}`, version), nil)
		var done atomic.Bool
		var mu sync.Mutex
		sold := map[string]int64{} // by run: how many orders were answered
		var buyers sync.WaitGroup
		for _, s := range []*shoptest.Server{a, b} {
			for range 8 {
				buyers.Go(func() {
					for !done.Load() {
						var sale api.SaleAnswer
						if status := s.Ask("POST", "/inventory/sale", "", &sale); status != 200 {
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
			if err := a.Outside.Set(t.Context(), "inventory", stock, 0).Err(); err != nil {
				t.Fatal(err)
			}
			suite.Eventually(t, "the run of the stock that was set sells", func() bool {
				run = b.Report()
				return run.Initial == stock && run.Sold > 20
			})
		}
		done.Store(true)
		buyers.Wait()
		run = b.Report()
		if n := sold[run.RunID]; run.Initial != 900_000 || run.Lost != 0 || run.Sold != n || run.Verdict != verdict.Pass {
			t.Errorf("%s: %+v, and %d answers; want them to agree", version, run, n)
		}
	}
}
