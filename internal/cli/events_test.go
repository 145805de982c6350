package cli

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"lockstep/internal/redistest"
	"lockstep/internal/witness"
)

// watchEvents follows a server's events until the test, or the server, ends.
func watchEvents(t *testing.T, s *testServer) (*witness.Collector, <-chan error) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	collected, ended := witness.NewCollector(), make(chan error, 1)
	go func() {
		_, err := witness.Follow(t.Context(), client, s.url()+"/events", "", collected.See)
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
	watched := sales(s, func() { collected, _ = watchEvents(t, s) })
	if !slices.Equal(watched, unwatched) {
		t.Errorf("watched, the shop sends\n%v\nand unwatched\n%v", watched, unwatched)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	last := fmt.Sprintf("%s#10", s.api.Replica)
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
	collected, ended := watchEvents(t, s)
	s.sell()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := collected.Until(ctx, func(events []witness.Event) bool { return len(events) > 0 }); err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- s.shutdown(patience) }()
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
