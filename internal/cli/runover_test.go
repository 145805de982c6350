package cli

import (
	"encoding/json"
	"testing"

	"lockstep/internal/lock/evolution"
	"lockstep/internal/test/redistest"
	"lockstep/internal/test/suite"
)

// Every sale writes into its own run alone: when that is over before it wrote, it was not made. Two replicas; one's sale thinks.
func TestNoRunWritesIntoAnother(t *testing.T) {
	t.Parallel()
	versions := []string{"v0", "v6", "v11", "atomic", "optimistic"} // each writes in its own way
	if suite.Long {
		versions = []string{"v0", "v1", "v4", "v6", "v7", "v9", "v10", "v11", "atomic", "optimistic"}
	}
	together(t, versions, func(t *testing.T, version string) {
		row, err := evolution.Find(version)
		if err != nil {
			t.Fatal(err)
		}
		addr := redistest.Start(t).Addr
		a := start(t, "--redis.addrs", addr, "--lock.version", version, "--lock.ttl", "1s", "--sale.think_time", "2500ms")
		b := start(t, "--redis.addrs", addr, "--lock.ttl", "1s")
		for _, c := range []struct {
			what   string
			change func()
		}{
			{"its replica counted as dead, and a new run began", func() {
				// as after a Redis that hung for longer than a heartbeat
				a.outside.Del(t.Context(), "{inventory}:in_flight", "{inventory}:replicas", "distributedLock")
				if status := b.ask("PUT", "/inventory", `{"stock":500}`, nil); status != 200 {
					t.Errorf("PUT /inventory: %d", status)
				}
			}},
			{"Redis forgot everything, and a new run began", func() {
				a.outside.FlushAll(t.Context())
				b.report()
			}},
			{"Redis forgot everything", func() { a.outside.FlushAll(t.Context()) }},
		} {
			before := b.report()
			code := ""
			for attempt := 0; code == "" && attempt < 3; attempt++ { // a slow machine may sell before the run ends
				failed := make(chan string, 1)
				go func() {
					_, answer, _ := a.failedSale()
					failed <- answer.Error.Code
				}()
				eventually(t, "the sale is in flight", func() bool { return b.report().InFlight == 1 })
				c.change()
				code = <-failed
			}
			// both are true where the lock went with the run, and was known to be lost
			if code != "run_over" && (code != "lock_lost" || !row.Capabilities.Renewed) {
				t.Errorf("%s: %s; want run_over", c.what, code)
			}
			run := b.report()
			if run.RunID == before.RunID || run.Sold != 0 || run.Lost != 0 || run.Remaining != run.Initial || run.Lock != version {
				t.Errorf("%s: the next run is %+v", c.what, run)
			}
		}
	})
}

// What a process still has of the lock of a run that Redis forgot, its place and its tokens, is passed to no sale of the next run. Else
// the store would have seen a token that the lock, counting anew, reaches much later.
func TestTheNextRunsTokensCount(t *testing.T) {
	t.Parallel()
	addr := redistest.Start(t).Addr
	a := start(t, "--redis.addrs", addr, "--lock.version", "v10", "--sale.think_time", "100ms")
	b := start(t, "--redis.addrs", addr)
	for range 2 {
		a.ask("PUT", "/inventory", `{"stock":200}`, nil)
		answers := make(chan string, 20)
		sell := func(n int) {
			for range n {
				go func() {
					_, text := a.send(t.Context(), "POST", "/inventory/sale", "", nil)
					answers <- string(text)
				}()
			}
		}
		sell(10)
		eventually(t, "a sale is in flight, and others wait", func() bool { return a.report().InFlight >= 3 })
		if err := b.outside.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		next := b.report().RunID
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
			if status, code := b.sell(); status != 200 {
				t.Fatalf("the other replica's sale in the next run: %d %s", status, code)
			}
		}
		if sold < 10 {
			t.Errorf("%d of 10 sales were made in the next run", sold)
		}
	}
}
