package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/internal/test/redistest"
	"lockstep/internal/watch/witness"
)

// watchEvents follows a server's events until the test, or the server, ends.
func watchEvents(t *testing.T, url string) (*witness.Collector, <-chan error) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	collected, ended := witness.NewCollector(), make(chan error, 1)
	go func() {
		_, err := witness.Follow(t.Context(), client, url+"/events", "", collected.Collect)
		ended <- err
	}()
	return collected, ended
}

// A watched shop sends Redis the same commands as one that nobody watches.
func TestWatchingCostsRedisNothing(t *testing.T) {
	server := redistest.Start(t)
	sales := func(s *testServer, before func()) []string {
		return monitor(t, server.Addr, "distributedLock", func() {
			before()
			for range 5 {
				if status, code := s.sell(); status != 200 {
					t.Fatalf("sale: %d %s", status, code)
				}
			}
		})
	}
	s := start(t, "--redis.addrs", server.Addr, "--lock.version", "v3")
	unwatched := sales(s, func() {})
	var collected *witness.Collector
	watched := sales(s, func() { collected, _ = watchEvents(t, s.url()) })
	if !slices.Equal(watched, unwatched) {
		t.Errorf("watched, the shop sends\n%v\nand unwatched\n%v", watched, unwatched)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	last := fmt.Sprintf("%s#10", s.API.Replica)
	if err := collected.Until(ctx, func(events []witness.Event) bool {
		return slices.ContainsFunc(events, func(e witness.Event) bool { return e.Sale == last && e.Kind == witness.KindEnds })
	}); err != nil {
		t.Errorf("%s was not seen: %v", last, err)
	}
	if found := witness.Examine(collected.Events()).Findings; len(found) > 0 {
		t.Errorf("nothing went wrong, but %v was found", found)
	}
}

// A server that ends does not wait for those who watch it.
func TestAServerEndsThoughItIsWatched(t *testing.T) {
	s := start(t, "--redis.embedded_addr", anyPort, "--lock.version", "v1")
	collected, ended := watchEvents(t, s.url())
	s.sell()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := collected.Until(ctx, func(events []witness.Event) bool { return len(events) > 0 }); err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- s.Shutdown(patience) }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the stream ended: %v", err)
		}
	case <-time.After(patience):
		t.Error("the stream goes on")
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// A server that ends does not wait for the table that a page asked for.
func TestAServerEndsThoughItExplores(t *testing.T) {
	s := start(t, "--redis.embedded_addr", anyPort)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url()+"/seat/table?anew", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := s.Shutdown(patience); err != nil {
		t.Error(err)
	}
	if text, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(text), "event: failed") {
		t.Errorf("the table goes on: %v: %s", err, text)
	}
}

// The front of a cluster streams the events of all its replicas. A watcher that comes back goes on where it was.
func TestTheFrontStreamsEveryReplica(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "--replicas", "2", "--lock", "v4")
	collected, _ := watchEvents(t, c.url())
	for range 4 {
		c.sell()
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	sold := func(sales ...string) func([]witness.Event) bool {
		return func(events []witness.Event) bool {
			for _, sale := range sales {
				if !slices.ContainsFunc(events, func(e witness.Event) bool { return e.Sale == sale && e.Kind == witness.KindEnds }) {
					return false
				}
			}
			return true
		}
	}
	if err := collected.Until(ctx, sold("r1#1", "r2#1", "r1#2", "r2#2")); err != nil {
		t.Fatalf("%v: %v", err, collected.Events())
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	watching, leave := context.WithCancel(ctx)
	var last string
	_, _ = witness.Follow(watching, client, c.url()+"/events", "", func(id string, e witness.Event) {
		if e.Sale == "r1#1" && e.Kind == witness.KindEnds {
			last = id
			leave()
		}
	})
	watching, leave = context.WithCancel(ctx)
	_, _ = witness.Follow(watching, client, c.url()+"/events", last, func(_ string, e witness.Event) {
		if e.Sale == "r1#1" {
			t.Errorf("%+v was sent again", e)
		}
		if e.Sale == "r1#2" && e.Kind == witness.KindEnds {
			leave()
		}
	})
	if ctx.Err() != nil {
		t.Error("what it had not seen was not sent")
	}
}
