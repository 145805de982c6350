package server_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"lockstep/internal/live"
	"lockstep/internal/test/redisserver"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
	"lockstep/internal/witness"
)

// A server that ends does not wait for those who watch it.
func TestServerEndsWhileItIsFollowed(t *testing.T) {
	s := shoptest.Start(t, "--lock.version", "v1")
	t.Parallel()
	collected, ended := s.Events()
	s.Sell()
	ctx, cancel := context.WithTimeout(t.Context(), suite.Patience)
	defer cancel()
	if err := collected.WaitUntil(ctx, func(events []witness.Event) bool { return len(events) > 0 }); err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- s.Own.Shutdown(suite.Patience) }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the stream ended: %v", err)
		}
	case <-time.After(suite.Patience):
		t.Error("the stream goes on")
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// A server that ends does not wait for the table that a page asked for.
func TestServerEndsWhileItExplores(t *testing.T) {
	t.Parallel()
	s := shoptest.Start(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/seat/table?anew", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := s.Own.Shutdown(suite.Patience); err != nil {
		t.Error(err)
	}
	if text, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(text), "event: failed") {
		t.Errorf("the table goes on: %v: %s", err, text)
	}
}

// A burst over HTTP gives the numbers of the run. There is one at a time.
func TestBurstOverHTTPReportsTheRun(t *testing.T) {
	t.Parallel()
	s := shoptest.Start(t, "--lock.version", "v0", "--sale.think_time", "5ms")
	var burst, second live.BurstAnswer
	if status := s.Ask(http.MethodPost, "/bursts", `{"n":100,"c":50}`, &burst); status != 202 || burst.ID == "" {
		t.Fatalf("POST /bursts: %d %+v", status, burst)
	}
	path := "/bursts/" + burst.ID
	suite.Eventually(t, "the burst is over", func() bool {
		s.Ask(http.MethodGet, path, "", &burst)
		return burst.Done
	})
	if report := s.Report(); burst.Result == nil || burst.Result.Report != report || report.Sold != 100 || burst.Answered != 100 {
		t.Errorf("the burst says %+v; the run is %+v", burst, report)
	}
	if status := s.Ask(http.MethodPut, "/settings", `{"think_ms":60000}`, nil); status != 200 {
		t.Fatalf("PUT /settings: %d", status)
	}
	if s.Ask(http.MethodPost, "/bursts", `{"n":2,"c":2}`, &second); s.Ask(http.MethodPost, "/bursts", `{"n":2,"c":2}`, nil) != 409 {
		t.Error("there are two bursts at once")
	}
	if s.Ask(http.MethodDelete, "/bursts/"+second.ID, "", &second); !second.Done || second.Error == "" {
		t.Errorf("cancelled, it is %+v", second)
	}
	var past []live.PastBurst
	s.Ask(http.MethodGet, "/bursts", "", &past)
	if len(past) != 1 || past[0].ID != burst.ID || len(past[0].Course) != 100 || !past[0].Course[99].Sold ||
		past[0].Result.Report != burst.Result.Report {
		t.Errorf("to be shown again there are %+v; want the one that was not cancelled", past)
	}
	for _, wrong := range []string{``, `{}`, `{"n":20001,"c":1}`, `{"n":1,"c":2001}`, `{"n":1,"c":1,"m":1}`, `{"n":1,"c":1,"stock":-1}`} {
		if status := s.Ask(http.MethodPost, "/bursts", wrong, nil); status != 400 {
			t.Errorf("POST /bursts %s: %d", wrong, status)
		}
	}
	for _, wrong := range []string{`{}`, `{"ttl_ms":1}`, `{"think_ms":-1}`, `{"nested":11}`, `{"ttl":5}`} {
		if status := s.Ask(http.MethodPut, "/settings", wrong, nil); status != 400 {
			t.Errorf("PUT /settings %s: %d", wrong, status)
		}
	}
}

// Servers that know each other show what all of them do, whichever is asked, and find each other's bursts.
func TestPeersShowAllSales(t *testing.T) {
	t.Parallel()
	redis, first, second := redisserver.Start(t).Addr, shoptest.UnusedAddr(t), shoptest.UnusedAddr(t)
	common := []string{"--redis.addrs", redis, "--lock.version", "v4", "--sale.think_time", "5ms"} // so that sales meet, on any machine
	one := shoptest.Start(t, append(common, "--server.addr", first, "--server.peers", second, "--server.replica", "one")...)
	two := shoptest.Start(t, append(common, "--server.addr", second, "--server.peers", first, "--server.replica", "two")...)
	watchers := []*shoptest.Watcher{one.Watch(), two.Watch()}
	var burst live.BurstAnswer
	one.Ask(http.MethodPost, "/bursts", `{"n":20,"c":10}`, &burst)
	suite.Eventually(t, "two knows that the burst is over", func() bool {
		return two.Ask(http.MethodGet, "/bursts/"+burst.ID, "", &burst) == 200 && burst.Done
	})
	for _, each := range watchers {
		each.AwaitText(`"replica":"r1","from"`)
		each.AwaitText(`"replica":"r2","from"`)
		each.AwaitText("stock and orders agree, with at least")
	}
}
