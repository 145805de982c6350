package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/internal/api"
	"lockstep/internal/config"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
	"lockstep/internal/verdict"
)

func TestStockSetByHandStartsARun(t *testing.T) {
	t.Parallel()
	s := shoptest.Start(t, "--lock.version", "v4")
	first := s.Report()
	s.Sell()
	for _, c := range []struct {
		what      string
		set       func() error
		remaining int64
		forgot    bool
	}{
		{"set inventory 1000", func() error { return s.Outside.Set(t.Context(), "inventory", 1000, 0).Err() }, 1000, false},
		{"set inventory 0", func() error { return s.Outside.Set(t.Context(), "inventory", 0, 0).Err() }, 0, false},
		{"del inventory", func() error { return s.Outside.Del(t.Context(), "inventory").Err() }, 200, true},
		{"flushall", func() error { return s.Outside.FlushAll(t.Context()).Err() }, 200, true},
	} {
		if err := c.set(); err != nil {
			t.Fatal(err)
		}
		run := s.Report()
		if run.RunID == first.RunID || run.Initial != c.remaining || run.Remaining != c.remaining || run.Sold != 0 || run.Lock != "v4" ||
			run.Forgot != c.forgot {
			t.Errorf("after %s: %+v; want a new run of %d", c.what, run, c.remaining)
		}
		first = run
	}
	if err := s.Outside.Set(t.Context(), "inventory", 7, 0).Err(); err != nil {
		t.Fatal(err)
	}
	var sale api.SaleAnswer
	if status := s.Ask(http.MethodPost, "/inventory/sale", "", &sale); status != 200 || sale.StockBefore != 7 || sale.RunID == first.RunID {
		t.Errorf("the first sale after set inventory 7: %d %+v", status, sale)
	}
}

func TestStockThatIsNoNumberIsRefused(t *testing.T) {
	t.Parallel()
	s := shoptest.Start(t)
	for _, c := range []struct {
		name string
		set  []any
		says string
	}{
		{"text", []any{"SET", "inventory", "abc"}, `the key inventory holds "abc"; it takes a whole number from 0 to 1000000000`},
		{"long text", []any{"SET", "inventory", strings.Repeat("x", 1<<20)}, `holds "xxxx`},
		{"list", []any{"RPUSH", "inventory", "1"}, `is not a string`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := s.Outside.Del(t.Context(), "inventory").Err(); err != nil {
				t.Fatal(err)
			}
			if err := s.Outside.Do(t.Context(), c.set...).Err(); err != nil {
				t.Fatal(err)
			}
			for _, request := range [][2]string{{"POST", "/inventory/sale"}, {"GET", "/inventory"}} {
				var answer api.ErrorAnswer
				status := s.Ask(request[0], request[1], "", &answer)
				message := answer.Error.Message
				if status != 503 || answer.Error.Code != "bad_stock" || !strings.Contains(message, c.says) || len(message) > 400 {
					t.Errorf("%v: %d %+.300v; want 503 bad_stock, %q", request, status, answer, c.says)
				}
			}
		})
	}
	if status := s.Ask("PUT", "/inventory", `{"stock":3}`, nil); status != 200 {
		t.Errorf("PUT /inventory cannot mend it: %d", status)
	}
	if status, code := s.Sell(); status != 200 {
		t.Errorf("sale after that: %d %s", status, code)
	}
}

// All orders of a run have the lock of the run, even if the lock is switched during the sales.
func TestRunNeverMixesVersions(t *testing.T) {
	t.Parallel()
	crowd := 15
	if suite.Long {
		crowd = 50
	}
	s := shoptest.Start(t, "--inventory.initial", "100000")
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
				if status := s.Ask("POST", "/inventory/sale", "", &sale); status != 200 {
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
		s.Switch(version)
		suite.Eventually(t, "a sale with "+version, func() bool { return s.Report().Sold > 0 })
		if run := s.Report(); run.Lock != version || run.Lost != 0 {
			t.Errorf("after the switch to %s: %+v", version, run)
		}
	}
	before := s.Report()
	s.Switch("v3")
	if after := s.Report(); after.RunID != before.RunID {
		t.Error("asking for the lock that is on started a new run")
	}
	close(stop)
	buyers.Wait()
	if run := s.Report(); run.Verdict != verdict.Pass || run.InFlight != 0 {
		t.Errorf("in the end: %+v", run)
	}
}

func TestTwoServersShareOneRun(t *testing.T) {
	t.Parallel()
	a := shoptest.Start(t, "--lock.version", "v4")
	a.Sell()
	b := shoptest.Start(t, "--redis.addrs", a.Own.Redis.Addr, "--lock.version", "v1", "--inventory.initial", "5")
	if got, want := b.Report(), a.Report(); got != want || got.Sold != 1 || got.Lock != "v4" {
		t.Errorf("b sees %+v; a sees %+v: b did not join", got, want)
	}
	b.Switch("v6")
	b.Sell()
	a.Sell()
	suite.Eventually(t, "each knows from a heartbeat that the other's sale is over", func() bool { return a.Report() == b.Report() })
	if got, want := a.Report(), b.Report(); got != want || got.Sold != 2 || got.Lock != "v6" {
		t.Errorf("a sees %+v; b sees %+v", got, want)
	}
}

// When several servers see the same file change, the first begins a run, and the others adopt its settings.
func TestFileChangeBeginsOneRun(t *testing.T) {
	t.Parallel()
	a := shoptest.Start(t, "--lock.version", "v1")
	b := shoptest.Start(t, "--redis.addrs", a.Own.Redis.Addr, "--lock.version", "v1")
	apply := func(s *shoptest.Server, change func(*config.Config)) string {
		t.Helper()
		change(&s.Config)
		if err := s.Own.API.Shop.Apply(t.Context(), s.Config.Settings); err != nil {
			t.Fatal(err)
		}
		run := s.Report()
		s.Sell() // so that the run is no longer as it was begun
		return run.RunID + " " + run.Lock
	}
	for _, change := range []func(*config.Config){
		func(cfg *config.Config) { cfg.Settings.Lock = "v4" },
		func(cfg *config.Config) { cfg.Settings.Think = time.Millisecond },
		func(cfg *config.Config) { cfg.Settings.Initial = 7 },
	} {
		before := a.Report().RunID
		first, second := apply(a, change), apply(b, change)
		if first != second || strings.HasPrefix(first, before) || !strings.HasSuffix(first, " v4") {
			t.Errorf("from run %s the first went to %s and the second to %s; want one new run with v4", before, first, second)
		}
	}
}

// A replica that joins while others sell does not stop their sales, and neither does a switch to the current lock.
func TestJoiningReplicaStopsNoSale(t *testing.T) {
	t.Parallel()
	a := shoptest.Start(t, "--lock.version", "v4", "--sale.think_time", "1m")
	defer a.StartSale()()
	suite.Eventually(t, "a sale is in flight", func() bool { return a.Report().InFlight == 1 })
	b := shoptest.Start(t, "--redis.addrs", a.Own.Redis.Addr)
	b.Switch("v4")
	if run := b.Report(); run.InFlight != 1 || run.RunID != a.Report().RunID {
		t.Errorf("it waited for the sale in flight, or began a run: %+v", run)
	}
}

// A replica that has just died still counts as alive, so a new one waits until its heartbeat expires, and then begins a run of its own.
func TestStartWaitsForADeadReplica(t *testing.T) {
	t.Parallel()
	a := shoptest.Start(t, "--lock.version", "v1")
	a.Sell()
	a.Own.StopBeating() // first, or it might live again after it has said goodbye
	if err := a.Own.API.Shop.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	heartbeat := fmt.Sprintf(`%d {"run":"it was in","sales":["a sale"],"admitted":1}`, time.Now().Add(time.Second).UnixMilli())
	if err := a.Outside.HSet(t.Context(), "{inventory}:replicas", "dead", heartbeat).Err(); err != nil {
		t.Fatal(err)
	}
	b := shoptest.Start(t, "--redis.addrs", a.Own.Redis.Addr, "--lock.version", "v4", "--inventory.initial", "77")
	if run := b.Report(); run.Lock != "v4" || run.Initial != 77 {
		t.Errorf("%+v; want a run of its own", run)
	}
}
