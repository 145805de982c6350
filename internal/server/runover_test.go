package server_test

import (
	"encoding/json"
	"testing"

	"lockstep/internal/evolution"
	"lockstep/internal/service/history"
	"lockstep/internal/test/redisserver"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

// Every sale writes into its own run alone: when that is over before it wrote, it was not made, and begins anew in the next run. Two
// replicas; one's sale thinks.
func TestSaleWritesIntoItsOwnRun(t *testing.T) {
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
		addr := redisserver.Start(t).Addr
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
			{"the stock was set by hand", func() { a.Outside.Set(t.Context(), "inventory", 300, 0) }},
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
