package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lockstep/internal/api"
	"lockstep/internal/evolution"
	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/internal/test/redisserver"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
	"lockstep/internal/verdict"
)

func TestSaleAnswersWithItsReceipt(t *testing.T) {
	t.Parallel()
	s := shoptest.Start(t, "--inventory.initial", "2", "--lock.version", "v4")
	var sale api.SaleAnswer
	if status := s.Ask(http.MethodPost, "/inventory/sale", "", &sale); status != http.StatusOK {
		t.Fatalf("POST /inventory/sale: %d", status)
	}
	if sale.OrderID == "" || sale.Replica == "" || sale.WaitMS <= 0 || sale.HoldMS <= 0 {
		t.Errorf("a field is missing: %+v", sale)
	}
	run := s.Report()
	want := api.SaleAnswer{
		OrderID: sale.OrderID, RunID: run.RunID, Lock: "v4", Replica: sale.Replica, StockBefore: 2, StockAfter: 1,
		WaitMS: sale.WaitMS, HoldMS: sale.HoldMS,
	}
	if sale != want {
		t.Errorf("sale %+v; want %+v", sale, want)
	}
	wantRun := history.Report{RunID: run.RunID, Lock: "v4", Initial: 2, Remaining: 1, Sold: 1, MaxInFlight: 1, Verdict: verdict.Untested}
	if run != wantRun {
		t.Errorf("run %+v; want %+v", run, wantRun)
	}
	order, err := s.Outside.HGet(t.Context(), "{inventory}:ledger:"+run.RunID, sale.OrderID).Result()
	if err != nil || !strings.Contains(order, lock.Owner(sale.OrderID)) {
		t.Errorf("the ledger says %s, %v", order, err)
	}
}

func TestErrorsHaveStatusAndCode(t *testing.T) {
	t.Parallel()
	s := shoptest.Start(t)
	big := `{"stock":` + strings.Repeat(" ", 2<<20) + `5}`
	for _, c := range []struct {
		method, path, body string
		status             int
		code, says         string
	}{
		{"GET", "/healthz", "", 200, "", `"service":"lockstep"`},
		{"GET", "/readyz", "", 200, "", `"ready"`},
		{"GET", "/", "", 200, "", "POST http://"},
		{"GET", "/lock", "", 200, "", `"version":"v0","title":"no lock","versions":["` + strings.Join(evolution.Names(), `","`) + `"],`},
		{"GET", "/lock", "", 200, "", `"key":{"name":"distributedLock","type":"none","holder":"","ttl_ms":-2}`},
		{"PUT", "/inventory", `{"stock":"many"}`, 400, "bad_request", `stock: a JSON string is not allowed; want {"stock":200}`},
		{"PUT", "/inventory", `{"stock":-1}`, 400, "bad_request", `stock: -1 is not allowed; want {"stock":200}`},
		{"PUT", "/inventory", `{"stock":1000000001}`, 400, "bad_request", `want {"stock":200}`},
		{"PUT", "/inventory", `{}`, 400, "bad_request", `stock is missing; want {"stock":200}`},
		{"PUT", "/inventory", big, 400, "bad_request", `too large`},
		{"PUT", "/lock", `{"version":"v42"}`, 400, "unknown_lock", `"v42"; there are ` + strings.Join(evolution.Names(), ", ")},
		{"PUT", "/lock", `{}`, 400, "bad_request", `version is missing; want {"version":"v4"}, one of ` + strings.Join(evolution.Names(), ", ")},
		{"PUT", "/lock", `{"version":"v5"}`, 200, "", `"version":"v5","title":"reentrant hash"`},
		{"PUT", "/inventory", `{"stock":1}`, 200, "", `"lock":"v5","initial":1,"remaining":1,"sold":0`},
		{"POST", "/inventory/sale", "", 200, "", `"stock_before":1,"stock_after":0`},
		{"POST", "/inventory/sale", "", 409, "sold_out", "sold out"},
		{"DELETE", "/lock", "", 400, "bad_request", "holder is missing; want ?holder= with key.holder of GET /lock, or ?force=true"},
		{"DELETE", "/lock?holder=", "", 400, "bad_request", "holder is missing; want ?holder="},
		{"DELETE", "/lock?force=yes", "", 400, "bad_request", `force: "yes" is not allowed; want ?holder=`},
		{"DELETE", "/lock?force=true&holder=", "", 400, "bad_request", "holder is missing; want ?holder="},
		{"DELETE", "/lock?force=true&holder=a", "", 200, "", `"released":false`},
		{"DELETE", "/lock?holder=nobody", "", 200, "", `"released":false`},
		{"DELETE", "/lock?force=true", "", 200, "", `"released":false`},
	} {
		status, text := s.Send(c.method, c.path, c.body)
		var answer api.ErrorAnswer
		_ = json.Unmarshal([]byte(text), &answer) // the page is no JSON
		said := text
		if c.code != "" {
			said = answer.Error.Message
		}
		if status != c.status || answer.Error.Code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%s %s %.40s: %d %s; want %d %s and %q", c.method, c.path, c.body, status, text, c.status, c.code, c.says)
		}
	}
}

func TestLockTimeoutAndForceUnlock(t *testing.T) {
	t.Parallel()
	s := shoptest.Start(t, "--lock.version", "v1", "--lock.wait_timeout", "500ms")
	if err := s.Outside.Set(t.Context(), lock.Key, 1, 0).Err(); err != nil { // its holder died
		t.Fatal(err)
	}
	sale := s.Do(t.Context(), "POST", "/inventory/sale", "", nil)
	if sale.Status != 503 || sale.Header.Get("Retry-After") != "1" || !strings.Contains(sale.Text, `"lock_timeout"`) {
		t.Errorf("sale under a lock left behind: %+v; want 503 lock_timeout, and Retry-After", sale)
	}
	var answer api.LockAnswer
	s.Ask("GET", "/lock", "", &answer)
	if want := (service.KeyState{Name: lock.Key, Type: "string", Holder: "1", TTL: -1}); !reflect.DeepEqual(answer.Key, want) {
		t.Errorf("GET /lock: %+v; want %+v", answer.Key, want)
	}
	if status, said := s.Send("DELETE", "/lock?holder=2", ""); status != 409 || !strings.Contains(said, `"not_holder"`) {
		t.Errorf("DELETE /lock of another holder: %d %s; want 409 not_holder", status, said)
	}
	s.Ask("DELETE", "/lock?holder=1", "", &answer)
	if answer.Released == nil || !*answer.Released || answer.Key.Type != "none" {
		t.Errorf("DELETE /lock?holder=1: %+v", answer)
	}
	if status, code := s.Sell(); status != 200 {
		t.Errorf("sale after the release: %d %s", status, code)
	}
	if err := s.Outside.Set(t.Context(), lock.Key, 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if status, said := s.Send("DELETE", "/lock?holder=2&force=true", ""); status != 200 || !strings.Contains(said, `"released":true`) {
		t.Errorf("DELETE /lock by force, with another holder: %d %s; want 200 and released", status, said)
	}
}

// A Redis that is out of memory refuses what is new, and takes back locks. (Not nested ones: to count down takes memory.)
func TestUnlockNeedsNoMemory(t *testing.T) {
	t.Parallel()
	suite.Together(t, []string{"v1", "v4", "v5", "v6", "v7", "v10"}, func(t *testing.T, version string) {
		s := shoptest.Start(t, "--redis.addrs", redisserver.Start(t).Addr, "--lock.version", version, "--sale.think_time", "1s")
		holds := func() bool { return s.Outside.Exists(t.Context(), "distributedLock").Val() == 1 }
		failed := make(chan string, 1)
		go func() {
			status, code := s.Sell()
			failed <- fmt.Sprint(status, " ", code)
		}()
		suite.Eventually(t, "the sale has the lock", holds)
		if err := s.Outside.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
			t.Fatal(err)
		}
		if got := <-failed; got != "503 redis_unavailable" {
			t.Errorf("a sale without memory: %s", got)
		}
		if holds() {
			t.Error("the lock was left behind")
		}
		if err := s.Outside.ConfigSet(t.Context(), "maxmemory", "0").Err(); err != nil {
			t.Fatal(err)
		}
		if status, code := s.Sell(); status != 200 {
			t.Errorf("the next sale: %d %s", status, code)
		}
	})
}

func TestMetricsCountSales(t *testing.T) {
	t.Parallel()
	s := shoptest.Start(t, "--lock.version", "v4", "--inventory.initial", "2", "--server.replica", "shop-1")
	for range 3 {
		s.Sell()
	}
	_, text := s.Send("GET", "/metrics", "")
	value := func(name, labels string) float64 {
		t.Helper()
		line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `\{([^}]*)\} (\S+)$`)
		for _, found := range line.FindAllStringSubmatch(text, -1) {
			if strings.Contains(found[1], labels) && strings.Contains(found[1], `replica="shop-1"`) {
				v, err := strconv.ParseFloat(found[2], 64)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
		}
		t.Errorf("there is no %s{%s}", name, labels)
		return -1
	}
	for _, c := range []struct {
		name, labels string
		want         float64
	}{
		{"lockstep_sales_total", `outcome="sold"`, 2},
		{"lockstep_sales_total", `outcome="sold_out"`, 1},
		{"lockstep_lock_wait_seconds_count", `lock="v4"`, 3},
		{"lockstep_lock_hold_seconds_count", `lock="v4"`, 3},
		{"lockstep_lock_waiters", `lock="v4"`, 0},
		{"lockstep_run_sold", `lock="v4"`, 2},
		{"lockstep_run_remaining", `lock="v4"`, 0},
		{"lockstep_run_lost", `lock="v4"`, 0},
		{"lockstep_run_in_flight", `lock="v4"`, 0},
	} {
		if got := value(c.name, c.labels); got != c.want {
			t.Errorf("%s{%s} is %v; want %v", c.name, c.labels, got, c.want)
		}
	}
	if sets := value("lockstep_redis_commands_total", `command="set"`); sets < 3 { // three locks; the stock is set by a script
		t.Errorf("%v SET commands", sets)
	}
	if value("go_goroutines", "") < 2 {
		t.Error("goroutines are not counted")
	}
}
