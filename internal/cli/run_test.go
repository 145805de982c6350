package cli

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/internal/cli/server"
	"lockstep/internal/lock/verdict"
	"lockstep/internal/service/history"
	"lockstep/internal/shop/api"
	"lockstep/internal/shop/config"
	"lockstep/internal/test/suite"
)

func TestStockSetByHandStartsARun(t *testing.T) {
	eachRedis(t, func(t *testing.T, redis []string) {
		s := start(t, append(redis, "--lock.version", "v4")...)
		first := s.report()
		s.sell()
		for _, c := range []struct {
			what      string
			set       func() error
			remaining int64
			forgot    bool
		}{
			{"set inventory 1000", func() error { return s.outside.Set(t.Context(), "inventory", 1000, 0).Err() }, 1000, false},
			{"set inventory 0", func() error { return s.outside.Set(t.Context(), "inventory", 0, 0).Err() }, 0, false},
			{"del inventory", func() error { return s.outside.Del(t.Context(), "inventory").Err() }, 200, true},
			{"flushall", func() error { return s.outside.FlushAll(t.Context()).Err() }, 200, true},
		} {
			if err := c.set(); err != nil {
				t.Fatal(err)
			}
			run := s.report()
			if run.RunID == first.RunID || run.Initial != c.remaining || run.Remaining != c.remaining || run.Sold != 0 || run.Lock != "v4" ||
				run.Forgot != c.forgot {
				t.Errorf("after %s: %+v; want a new run of %d", c.what, run, c.remaining)
			}
			first = run
		}
		if err := s.outside.Set(t.Context(), "inventory", 7, 0).Err(); err != nil {
			t.Fatal(err)
		}
		var sale api.SaleAnswer
		if status := s.ask(http.MethodPost, "/inventory/sale", "", &sale); status != 200 || sale.StockBefore != 7 || sale.RunID == first.RunID {
			t.Errorf("the first sale after set inventory 7: %d %+v", status, sale)
		}
	})
}

func TestStockThatIsNoNumber(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, redis []string) {
		s := start(t, redis...)
		for _, c := range []struct {
			set  []any
			says string
		}{
			{[]any{"SET", "inventory", "abc"}, `the key inventory holds "abc"; it takes a whole number from 0 to 1000000000`},
			{[]any{"SET", "inventory", ""}, `holds ""`},
			{[]any{"SET", "inventory", "-5"}, `holds "-5"`},
			{[]any{"SET", "inventory", "99999999999999999999999"}, `holds "9999`},
			{[]any{"SET", "inventory", strings.Repeat("x", 1<<20)}, `holds "xxxx`},
			{[]any{"RPUSH", "inventory", "1"}, `is not a string`},
		} {
			if err := s.outside.Del(t.Context(), "inventory").Err(); err != nil {
				t.Fatal(err)
			}
			if err := s.outside.Do(t.Context(), c.set...).Err(); err != nil {
				t.Fatal(err)
			}
			for _, request := range [][2]string{{"POST", "/inventory/sale"}, {"GET", "/inventory"}} {
				var answer api.ErrorAnswer
				status := s.ask(request[0], request[1], "", &answer)
				message := answer.Error.Message
				if status != 503 || answer.Error.Code != "bad_stock" || !strings.Contains(message, c.says) || len(message) > 400 {
					t.Errorf("%v with %.60v: %d %+.300v; want 503 bad_stock, %q", request, c.set, status, answer, c.says)
				}
			}
		}
		if status := s.ask("PUT", "/inventory", `{"stock":3}`, nil); status != 200 {
			t.Errorf("PUT /inventory cannot mend it: %d", status)
		}
		if status, code := s.sell(); status != 200 {
			t.Errorf("sale after that: %d %s", status, code)
		}
	})
}

// A run never mixes versions: every order of a run carries the run's lock, whoever switches whenever.
func TestSwitchingDuringABurst(t *testing.T) {
	t.Parallel()
	crowd := 15
	if suite.Long {
		crowd = 50
	}
	eachRedis(t, func(t *testing.T, redis []string) {
		s := start(t, append(redis, "--inventory.initial", "100000")...)
		stop := make(chan struct{})
		var mu sync.Mutex
		lockOf := map[string]string{} // by run
		var buyers sync.WaitGroup
		for range crowd {
			buyers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					var sale struct {
						api.SaleAnswer
						api.ErrorAnswer
					}
					if status := s.ask("POST", "/inventory/sale", "", &sale); status != 200 {
						t.Errorf("sale: %d %+v", status, sale.Error)
						return
					}
					mu.Lock()
					if other, seen := lockOf[sale.RunID]; seen && other != sale.Lock {
						t.Errorf("run %s has orders of %s and %s", sale.RunID, other, sale.Lock)
					}
					lockOf[sale.RunID] = sale.Lock
					mu.Unlock()
				}
			})
		}
		for _, version := range []string{"v4", "v1", "local", "v6", "v5", "v2", "v3"} {
			if status := s.ask("PUT", "/lock", fmt.Sprintf(`{"version":%q}`, version), nil); status != 200 {
				t.Errorf("PUT /lock %s: %d", version, status)
			}
			eventually(t, "a sale with "+version, func() bool { return s.report().Sold > 0 })
			if run := s.report(); run.Lock != version || run.Lost != 0 {
				t.Errorf("after the switch to %s: %+v", version, run)
			}
		}
		before := s.report()
		s.ask("PUT", "/lock", `{"version":"v3"}`, nil)
		if after := s.report(); after.RunID != before.RunID {
			t.Error("asking for the lock that is on started a new run")
		}
		close(stop)
		buyers.Wait()
		if run := s.report(); run.Verdict != verdict.Pass || run.InFlight != 0 {
			t.Errorf("in the end: %+v", run)
		}
	})
}

func TestTwoServersShareARun(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, redis []string) {
		a := start(t, append(redis, "--lock.version", "v4")...)
		redis = []string{"--redis.addrs", a.Redis.Addr}
		a.sell()
		b := start(t, append(redis, "--lock.version", "v1", "--inventory.initial", "5")...)
		if got, want := b.report(), a.report(); got != want || got.Sold != 1 || got.Lock != "v4" {
			t.Errorf("b sees %+v; a sees %+v: b did not join", got, want)
		}
		b.ask("PUT", "/lock", `{"version":"v6"}`, nil)
		b.sell()
		a.sell()
		if got, want := a.report(), b.report(); got != want || got.Sold != 2 || got.Lock != "v6" {
			t.Errorf("a sees %+v; b sees %+v", got, want)
		}
	})
}

// Of several servers that see the same file change, the first begins a run, and the others take the settings.
func TestOneChangeBeginsOneRun(t *testing.T) {
	t.Parallel()
	a := start(t, "--redis.embedded_addr", anyPort, "--lock.version", "v1")
	b := start(t, "--redis.addrs", a.Redis.Addr, "--lock.version", "v1")
	apply := func(s *testServer, change func(*config.Config)) string {
		t.Helper()
		change(&s.cfg)
		if err := s.API.Shop.Apply(t.Context(), server.Settings(s.cfg)); err != nil {
			t.Fatal(err)
		}
		run := s.report()
		s.sell() // so that the run is no longer as it was begun
		return run.RunID + " " + run.Lock
	}
	for _, change := range []func(*config.Config){
		func(cfg *config.Config) { cfg.Lock.Version = "v4" },
		func(cfg *config.Config) { cfg.Sale.ThinkTime = time.Millisecond },
		func(cfg *config.Config) { cfg.Inventory.Initial = 7 },
	} {
		before := a.report().RunID
		first, second := apply(a, change), apply(b, change)
		if first != second || strings.HasPrefix(first, before) || !strings.HasSuffix(first, " v4") {
			t.Errorf("from run %s the first went to %s and the second to %s; want one new run with v4", before, first, second)
		}
	}
}

// A replica that comes back while others sell does not shut them out.
func TestJoiningStopsNobody(t *testing.T) {
	t.Parallel()
	a := start(t, "--redis.embedded_addr", anyPort, "--lock.version", "v4", "--sale.think_time", "10s")
	leave := a.sellsOn()
	eventually(t, "a sale is in flight", func() bool { return a.report().InFlight == 1 })
	b := start(t, "--redis.addrs", a.Redis.Addr)
	if run := b.report(); run.InFlight != 1 || run.RunID != a.report().RunID {
		t.Errorf("it waited for the sale in flight, or began a run: %+v", run)
	}
	leave()
}

// sellsOn begins a sale that goes on until its buyer leaves.
func (s *testServer) sellsOn() (leave func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	var buyer sync.WaitGroup
	buyer.Go(func() { s.send(ctx, http.MethodPost, "/inventory/sale", "", nil) })
	return func() { cancel(); buyer.Wait() }
}

// A replica that died a moment ago still counts as living: whoever starts waits until it no longer does, and is then alone.
func TestStartAfterACrash(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, redis []string) {
		a := start(t, append(redis, "--lock.version", "v1")...)
		a.sell()
		if err := a.API.Shop.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		a.StopBeating() // it beats no more
		if err := a.outside.HSet(t.Context(), "{inventory}:replicas", "dead", dead(time.Second)).Err(); err != nil {
			t.Fatal(err)
		}
		b := start(t, "--redis.addrs", a.Redis.Addr, "--lock.version", "v4", "--inventory.initial", "77")
		if run := b.report(); run.Lock != "v4" || run.Initial != 77 {
			t.Errorf("%+v; want a run of its own", run)
		}
	})
}

// dead is what a replica has told that counts as dead after so long, with a sale in flight.
func dead(after time.Duration) string {
	return fmt.Sprintf(`%d {"run":"it was in","sales":["a sale"],"admitted":1}`, time.Now().Add(after).UnixMilli())
}

// A sale that goes on while Redis forgets everything does not write into the next run, but begins anew in it.
func TestFlushWhileASaleGoesOn(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, redis []string) {
		s := start(t, append(redis, "--lock.version", "v0", "--sale.think_time", "500ms")...)
		s.ask("PUT", "/lock", `{"version":"v4"}`, nil)
		sold := make(chan int, 1)
		go func() { status, _ := s.sell(); sold <- status }()
		eventually(t, "a sale holds the lock", func() bool {
			n, err := s.outside.Exists(t.Context(), "distributedLock").Result()
			return err == nil && n == 1
		})
		if err := s.outside.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		var run history.Report
		if status := s.ask("PUT", "/inventory", `{"stock":500}`, &run); status != 200 || run.Lock != "v4" {
			t.Errorf("PUT /inventory: %d %+v; want the lock that was on", status, run)
		}
		if status := <-sold; status != 200 {
			t.Errorf("the sale ends with %d; want it in the next run", status)
		}
		if run := s.report(); run.Remaining != 499 || run.Sold != 1 || run.Lost != 0 {
			t.Errorf("the old sale wrote into the new run: %+v", run)
		}
	})
}

func TestAskingForTheLockThatIsOnWaitsForNobody(t *testing.T) {
	t.Parallel()
	s := start(t, "--redis.embedded_addr", anyPort, "--lock.version", "v4", "--sale.think_time", "10s")
	leave := s.sellsOn()
	eventually(t, "a sale is in flight", func() bool { return s.report().InFlight == 1 })
	s.ask("PUT", "/lock", `{"version":"v4"}`, nil)
	if run := s.report(); run.InFlight != 1 {
		t.Errorf("it waited for the sale in flight: %+v", run)
	}
	leave()
}

// What a dead replica left in flight is forgotten; it blocks a switch no longer than its heartbeat lasts.
func TestDeadReplicasSalesAreForgotten(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, redis []string) {
		s := start(t, redis...)
		if err := s.outside.HSet(t.Context(), "{inventory}:replicas", "dead", dead(time.Second)).Err(); err != nil {
			t.Fatal(err)
		}
		if run := s.report(); run.InFlight != 1 {
			t.Errorf("before the replica is forgotten: %+v", run)
		}
		if status := s.ask("PUT", "/inventory", `{"stock":9}`, nil); status != 200 {
			t.Errorf("PUT /inventory: %d", status)
		}
		if run := s.report(); run.InFlight != 0 || run.Initial != 9 {
			t.Errorf("%+v", run)
		}
	})
}

func TestNestedCalls(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, redis []string) {
		for _, version := range []string{"v5", "v6"} {
			t.Run(version, func(t *testing.T) {
				s := start(t, append(redis, "--lock.version", version, "--sale.nested", "2")...)
				code, stdout, stderr := command(t, "burst", "-n", "15", "-c", "15", "--target", s.url())
				if code != exitOK {
					t.Errorf("exit code %d: %s%s", code, stdout, stderr)
				}
			})
		}
		for _, version := range []string{"v1", "v2", "v3", "v4", "local"} {
			t.Run(version, func(t *testing.T) {
				s := start(t, append(redis, "--lock.version", version, "--sale.nested", "2", "--lock.wait_timeout", "200ms")...)
				began := time.Now()
				if status, code := s.sell(); status != 503 || code != "lock_timeout" {
					t.Errorf("nested sale: %d %s; want 503 lock_timeout", status, code)
				}
				if took := time.Since(began); took < 200*time.Millisecond {
					t.Errorf("it did not wait: %v", took)
				}
				var answer api.LockAnswer
				s.ask("GET", "/lock", "", &answer)
				if run := s.report(); answer.Key.Type != "none" || run.Sold != 0 || run.InFlight != 0 {
					t.Errorf("something is left behind: %+v %+v", answer.Key, run)
				}
			})
		}
	})
}
