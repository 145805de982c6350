package cli

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/cluster"
	"lockstep/internal/test/redistest"
	"lockstep/internal/watch/live"
)

// shown follows GET /live until the test ends, and gives what it was sent so far.
func shown(t *testing.T, url string) func() string {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/live", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	text, over := &lockedBuffer{}, make(chan struct{})
	go func() {
		defer close(over)
		_, _ = io.Copy(text, response.Body)
	}()
	t.Cleanup(func() { leave(); <-over })
	return text.String
}

// until waits until a text is shown.
func until(t *testing.T, sent func() string, text string) {
	t.Helper()
	eventually(t, "shown: "+text, func() bool { return strings.Contains(sent(), text) })
}

// A shop that is shown sends Redis the same commands about the lock as one that nobody watches, and about the stock only looks more.
func TestShowingCostsTheLockNothing(t *testing.T) {
	server := redistest.Start(t)
	s := start(t, "--redis.addrs", server.Addr, "--lock.version", "v3")
	sales := func(key string) []string {
		return monitor(t, server.Addr, key, func() {
			for range 5 {
				if status, code := s.sell(); status != 200 {
					t.Fatalf("sale: %d %s", status, code)
				}
			}
		})
	}
	unwatched := sales("distributedLock")
	sent := shown(t, s.url())
	until(t, sent, "event: run")
	if watched := sales("distributedLock"); !slices.Equal(watched, unwatched) {
		t.Errorf("watched, the shop sends\n%v\nand unwatched\n%v", watched, unwatched)
	}
	eventually(t, "the sales are shown", func() bool { return strings.Count(sent(), `{"sale":"`) >= 5 })
}

// What is set at one replica is in force in all, also in one that is started anew, and the lanes of all are shown by the front.
func TestSettingsReachEveryReplica(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "--replicas", "2", "--lock", "v4")
	sent := shown(t, c.url())
	if status := c.ask(http.MethodPut, "/settings", `{"ttl_ms":7000,"think_ms":30}`, nil); status != 200 {
		t.Fatalf("PUT /settings: %d", status)
	}
	inForce := func() {
		t.Helper()
		for _, replica := range c.replicas() {
			one := &testServer{addr: replica.Address, t: t}
			_, text := one.send(t.Context(), http.MethodGet, "/settings", "", nil)
			if want := `{"ttl_ms":7000,"think_ms":30,"nested":0,"wait_ms":120000}`; !strings.HasPrefix(string(text), want) {
				t.Errorf("%s: %s; want %s", replica.Name, text, want)
			}
		}
	}
	inForce()
	for range 4 {
		var answer struct {
			Hold float64 `json:"hold_ms"`
		}
		if c.ask(http.MethodPost, "/inventory/sale", "", &answer); answer.Hold < 30 {
			t.Errorf("a sale took %v ms", answer.Hold)
		}
	}
	until(t, sent, `"name":"A"`)
	until(t, sent, `"replica":"r2","spans"`)
	if status := c.ask(http.MethodPost, "/replicas/r2", `{"do":"kill"}`, nil); status != 200 {
		t.Fatalf("POST /replicas/r2: %d", status)
	}
	until(t, sent, `"says":"r2 dies"`)
	eventually(t, "r2 is up again", func() bool {
		r2 := c.replicas()[1]
		return r2.State == cluster.Up && r2.Restarts == 1
	})
	inForce()
}

// A burst over HTTP gives the numbers of the run. There is one at a time.
func TestBurstOverHTTP(t *testing.T) {
	s := start(t, "--redis.embedded_addr", anyPort, "--lock.version", "v0", "--sale.think_time", "5ms")
	var burst, second live.BurstAnswer
	if status := s.ask(http.MethodPost, "/bursts", `{"n":100,"c":50}`, &burst); status != 202 || burst.ID == "" {
		t.Fatalf("POST /bursts: %d %+v", status, burst)
	}
	path := "/bursts/" + burst.ID
	eventually(t, "the burst is over", func() bool {
		s.ask(http.MethodGet, path, "", &burst)
		return burst.Done
	})
	if report := s.report(); burst.Result == nil || burst.Result.Report != report || report.Sold != 100 || burst.Answered != 100 {
		t.Errorf("the burst says %+v; the run is %+v", burst, report)
	}
	if status := s.ask(http.MethodPut, "/settings", `{"think_ms":60000}`, nil); status != 200 {
		t.Fatalf("PUT /settings: %d", status)
	}
	if s.ask(http.MethodPost, "/bursts", `{"n":2,"c":2}`, &second); s.ask(http.MethodPost, "/bursts", `{"n":2,"c":2}`, nil) != 409 {
		t.Error("there are two bursts at once")
	}
	if s.ask(http.MethodDelete, "/bursts/"+second.ID, "", &second); !second.Done || second.Error == "" {
		t.Errorf("cancelled, it is %+v", second)
	}
	for _, wrong := range []string{``, `{}`, `{"n":20001,"c":1}`, `{"n":1,"c":2001}`, `{"n":1,"c":1,"m":1}`, `{"n":1,"c":1,"stock":-1}`} {
		if status := s.ask(http.MethodPost, "/bursts", wrong, nil); status != 400 {
			t.Errorf("POST /bursts %s: %d", wrong, status)
		}
	}
	for _, wrong := range []string{`{}`, `{"ttl_ms":1}`, `{"think_ms":-1}`, `{"nested":11}`, `{"ttl":5}`} {
		if status := s.ask(http.MethodPut, "/settings", wrong, nil); status != 400 {
			t.Errorf("PUT /settings %s: %d", wrong, status)
		}
	}
}

// What a teacher does needs what PUT needs; to watch needs nothing.
func TestGuestsOnlyWatch(t *testing.T) {
	s := start(t, "--redis.embedded_addr", anyPort, "--admin.token", "secret")
	for _, path := range []string{"/bursts", "/nodes/1", "/anything"} {
		if status, text := administer(t, s.addr, http.MethodPost, path, ""); status != 401 {
			t.Errorf("POST %s without a token: %d %s", path, status, text)
		}
		elsewhere := []string{"Origin: http://evil.com", "Authorization: Bearer secret"}
		if status, _ := administer(t, s.addr, http.MethodPost, path, "", elsewhere...); status != 403 {
			t.Errorf("POST %s from another site: %d", path, status)
		}
	}
	if status, text := administer(t, s.addr, http.MethodPut, "/settings", ""); status != 401 {
		t.Errorf("PUT /settings without a token: %d %s", status, text)
	}
	until(t, shown(t, s.url()), `"administer":"token"`)
	for _, path := range []string{"/nodes", "/settings"} {
		if status := s.ask(http.MethodGet, path, "", nil); status != 200 {
			t.Errorf("GET %s: %d", path, status)
		}
	}
}

// Servers that know each other show what all of them do, whichever is asked, and find each other's bursts.
func TestPeers(t *testing.T) {
	t.Parallel()
	redis, first, second := redistest.Start(t).Addr, unusedAddr(t), unusedAddr(t)
	common := []string{"--redis.addrs", redis, "--lock.version", "v4"}
	one := start(t, append(common, "--server.addr", first, "--server.peers", second, "--server.replica", "one")...)
	two := start(t, append(common, "--server.addr", second, "--server.peers", first, "--server.replica", "two")...)
	sent := []func() string{shown(t, one.url()), shown(t, two.url())}
	var burst live.BurstAnswer
	one.ask(http.MethodPost, "/bursts", `{"n":20,"c":10}`, &burst)
	eventually(t, "two knows that the burst is over", func() bool {
		return two.ask(http.MethodGet, "/bursts/"+burst.ID, "", &burst) == 200 && burst.Done
	})
	for _, of := range sent {
		until(t, of, `"replica":"r1","from"`)
		until(t, of, `"replica":"r2","from"`)
		until(t, of, "stock and orders agree, with at least")
	}
}
