package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/verdict"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/internal/shop/api"
)

func TestSaleAnswer(t *testing.T) {
	eachRedis(t, func(t *testing.T, redis []string) {
		s := start(t, append(redis, "--inventory.initial", "2", "--lock.version", "v4")...)
		var sale api.SaleAnswer
		if status := s.ask(http.MethodPost, "/inventory/sale", "", &sale); status != http.StatusOK {
			t.Fatalf("POST /inventory/sale: %d", status)
		}
		if sale.OrderID == "" || sale.Replica == "" || sale.WaitMS <= 0 || sale.HoldMS <= 0 {
			t.Errorf("a field is missing: %+v", sale)
		}
		run := s.report()
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
		order, err := s.outside.HGet(t.Context(), "{inventory}:ledger:"+run.RunID, sale.OrderID).Result()
		if err != nil || !strings.Contains(order, lock.Owner(sale.OrderID)) {
			t.Errorf("the ledger says %s, %v", order, err)
		}
	})
}

func TestStatusAndCode(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, redis []string) {
		s := start(t, redis...)
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
			{"GET", "/nowhere", "", 404, "not_found", "GET /"},
			{"POST", "/inventory/sale/", "", 404, "not_found", "GET /"},
			{"GET", "/inventory/sale", "", 405, "method_not_allowed", "GET /"},
			{"PUT", "/inventory", `{"stock":"many"}`, 400, "bad_request", `stock: a JSON string is not allowed; want {"stock":200}`},
			{"PUT", "/inventory", `{"stock":null}`, 400, "bad_request", `a whole number from 0 to 1000000000`},
			{"PUT", "/inventory", `[200]`, 400, "bad_request", `a JSON array is not allowed; want {"stock":200}`},
			{"PUT", "/inventory", `{"stock":-1}`, 400, "bad_request", `stock: -1 is not allowed; want {"stock":200}`},
			{"PUT", "/inventory", `{"stock":1.5}`, 400, "bad_request", `1.5`},
			{"PUT", "/inventory", `{"stock":1000000001}`, 400, "bad_request", `want {"stock":200}`},
			{"PUT", "/inventory", `{"stock":99999999999999999999}`, 400, "bad_request", `want {"stock":200}`},
			{"PUT", "/inventory", `{}`, 400, "bad_request", `stock is missing; want {"stock":200}`},
			{"PUT", "/inventory", ``, 400, "bad_request", `the body is empty`},
			{"PUT", "/inventory", `{"stock":1,"stok":2}`, 400, "bad_request", `stok`},
			{"PUT", "/inventory", `{"stock":1} {"stock":2}`, 400, "bad_request", `more after`},
			{"PUT", "/inventory", `stock=200`, 400, "bad_request", `want {"stock":200}`},
			{"PUT", "/inventory", big, 400, "bad_request", `too large`},
			{"PUT", "/lock", `{"version":"v42"}`, 400, "unknown_lock", `"v42"; there are ` + strings.Join(evolution.Names(), ", ")},
			{"PUT", "/lock", `{}`, 400, "bad_request", `version is missing; want {"version":"v4"}, one of ` + strings.Join(evolution.Names(), ", ")},
			{"PUT", "/lock", `{"version":4}`, 400, "bad_request", `version: a JSON number is not allowed`},
			{"PUT", "/lock", `{"version":"v5"}`, 200, "", `"version":"v5","title":"reentrant hash"`},
			{"PUT", "/inventory", `{"stock":1}`, 200, "", `"lock":"v5","initial":1,"remaining":1,"sold":0`},
			{"POST", "/inventory/sale", "", 200, "", `"stock_before":1,"stock_after":0`},
			{"POST", "/inventory/sale", "", 409, "sold_out", "sold out"},
			{"DELETE", "/lock", "", 200, "", `"released":false`},
		} {
			status, text := s.send(t.Context(), c.method, c.path, c.body, nil)
			var answer api.ErrorAnswer
			_ = json.Unmarshal(text, &answer) // the page is no JSON
			said := string(text)
			if c.code != "" {
				said = answer.Error.Message
			}
			if status != c.status || answer.Error.Code != c.code || !strings.Contains(said, c.says) {
				t.Errorf("%s %s %.40s: %d %s; want %d %s and %q", c.method, c.path, c.body, status, text, c.status, c.code, c.says)
			}
		}
	})
}

func TestLockTimeoutAndForceUnlock(t *testing.T) {
	eachRedis(t, func(t *testing.T, redis []string) {
		s := start(t, append(redis, "--lock.version", "v1", "--lock.wait_timeout", "500ms")...)
		if err := s.outside.Set(t.Context(), lock.Key, 1, 0).Err(); err != nil { // its holder died
			t.Fatal(err)
		}
		status, text := s.send(t.Context(), "POST", "/inventory/sale", "", nil)
		if status != 503 || !strings.Contains(string(text), `"lock_timeout"`) {
			t.Errorf("sale under a lock left behind: %d %s; want 503 lock_timeout", status, text)
		}
		var answer api.LockAnswer
		s.ask("GET", "/lock", "", &answer)
		if want := (service.KeyState{Name: lock.Key, Type: "string", Holder: "1", TTL: -1}); answer.Key != want {
			t.Errorf("GET /lock: %+v; want %+v", answer.Key, want)
		}
		s.ask("DELETE", "/lock", "", &answer)
		if answer.Released == nil || !*answer.Released || answer.Key.Type != "none" {
			t.Errorf("DELETE /lock: %+v", answer)
		}
		if status, code := s.sell(); status != 200 {
			t.Errorf("sale after the release: %d %s", status, code)
		}
	})
}

func TestLockKeyOfEachType(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, redis []string) {
		s := start(t, append(redis, "--sale.think_time", "1m")...)
		for version, want := range map[string]string{
			"v1": "string 1 -1", "v2": "string 1 ttl", "v3": "string owner ttl", "v5": "hash owner ttl",
		} {
			if status := s.ask("PUT", "/lock", fmt.Sprintf(`{"version":%q}`, version), nil); status != 200 {
				t.Fatalf("PUT /lock %s: %d", version, status)
			}
			leave := s.sellsOn()
			var answer api.LockAnswer
			eventually(t, "a lock is held", func() bool {
				s.ask("GET", "/lock", "", &answer)
				return answer.Key.Type != "none"
			})
			got := answer.Key.Type
			if strings.HasPrefix(answer.Key.Holder, lock.Key+":") {
				got += " owner"
			} else {
				got += " " + answer.Key.Holder
			}
			if answer.Key.TTL > 0 && answer.Key.TTL <= s.cfg.Lock.TTL.Milliseconds() {
				got += " ttl"
			} else {
				got += fmt.Sprint(" ", answer.Key.TTL)
			}
			if got != want {
				t.Errorf("%s: %s; want %s", version, got, want)
			}
			leave()
		}
	})
}

func TestLockLostIsAnswered(t *testing.T) {
	eachRedis(t, func(t *testing.T, redis []string) {
		s := start(t, append(redis, "--lock.version", "v6", "--lock.ttl", "1s", "--sale.think_time", "1m")...)
		answered := make(chan string, 1)
		go func() {
			status, code := s.sell()
			answered <- fmt.Sprint(status, " ", code)
		}()
		eventually(t, "the sale holds the lock", func() bool {
			n, err := s.outside.Del(t.Context(), lock.Key).Result()
			return err == nil && n == 1
		})
		if got := <-answered; got != "503 lock_lost" {
			t.Errorf("sale whose lock was taken away: %s; want 503 lock_lost", got)
		}
		if run := s.report(); run.Sold != 0 || run.Remaining != run.Initial {
			t.Errorf("it wrote all the same: %+v", run)
		}
	})
}

func TestClientThatGoesAwayLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, redis []string) {
		for _, version := range locks {
			t.Run(version, func(t *testing.T) {
				s := start(t, append(redis, "--lock.version", version, "--sale.think_time", "1m")...)
				ctx, leave := context.WithCancel(t.Context())
				gone := make(chan struct{})
				for _, body := range []string{"", "{}"} { // one holds the lock, one waits for it
					go func() { s.send(ctx, "POST", "/inventory/sale", body, nil); gone <- struct{}{} }()
				}
				eventually(t, "two sales are in flight", func() bool { return s.report().InFlight == 2 })
				leave()
				<-gone
				<-gone
				eventually(t, "no sale is in flight", func() bool { return s.report().InFlight == 0 })
				if row, err := evolution.Find(version); err != nil || row.Capabilities.Cached {
					s.ask("PUT", "/inventory", `{"stock":9}`, nil) // a lock that the process keeps is given back when its run ends
				}
				var answer api.LockAnswer
				s.ask("GET", "/lock", "", &answer)
				if answer.Key.Type != "none" {
					t.Errorf("a lock is left behind: %+v", answer.Key)
				}
			})
		}
	})
}

func TestBeyondLoopbackTheTokenCounts(t *testing.T) {
	s := start(t, "--redis.embedded_addr", anyPort, "--server.addr", "0.0.0.0:0", "--admin.token", "s3cret")
	for authorization, want := range map[string]int{"": 401, "Bearer s3cret": 200} {
		header := http.Header{}
		if authorization != "" {
			header.Set("Authorization", authorization)
		}
		if status, text := s.send(t.Context(), "PUT", "/lock", `{"version":"v1"}`, header); status != want {
			t.Errorf("PUT with %q: %d %s; want %d", authorization, status, text, want)
		}
	}
	code, _, stderr := command(t, "burst", "--target", s.url(), "-n", "10", "-c", "10")
	if code != 2 || !strings.Contains(stderr, "401 unauthorized") || !strings.Contains(stderr, "--admin.token") {
		t.Errorf("burst without the token: exit code %d: %s", code, stderr)
	}
	if code, stdout, stderr := command(t, "burst", "--target", s.url(), "-n", "10", "-c", "10", "--admin.token", "s3cret"); code != 0 {
		t.Errorf("burst with the token: exit code %d: %s%s", code, stdout, stderr)
	}
}

// The page comes with all that it names.
func TestThePageIsServed(t *testing.T) {
	s := start(t, "--redis.embedded_addr", anyPort)
	status, text := s.send(t.Context(), "GET", "/", "", nil)
	files := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(string(text), -1)
	if status != 200 || len(files) == 0 {
		t.Fatalf("%d: %s", status, text)
	}
	for _, file := range files {
		if status, _ := s.send(t.Context(), "GET", "/"+file[1], "", nil); status != 200 {
			t.Errorf("%s: %d", file[1], status)
		}
	}
	// the page in a tab, or how to get it
	if status, text := s.send(t.Context(), "GET", "/tab", "", nil); status != 200 && !strings.Contains(string(text), "go run . site") {
		t.Errorf("/tab: %d %s", status, text)
	}
}

func TestRetryAfter(t *testing.T) {
	s := start(t, "--redis.embedded_addr", anyPort, "--lock.version", "v1", "--lock.wait_timeout", "10ms")
	if err := s.outside.Set(t.Context(), lock.Key, 1, time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(s.url()+"/inventory/sale", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got := response.Header.Get("Retry-After"); response.StatusCode != 503 || got != "1" {
		t.Errorf("%d with Retry-After %q; want 503 with 1", response.StatusCode, got)
	}
}
