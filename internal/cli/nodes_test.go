package cli

import (
	"strings"
	"testing"

	"lockstep/internal/test/redistest"
)

// Nodes that are gone are redlock's trouble, and no other lock's.
func TestNodesGone(t *testing.T) {
	var nodes []*redistest.Server
	var addrs []string
	for range 3 {
		node := redistest.Start(t)
		nodes, addrs = append(nodes, node), append(addrs, node.Addr)
	}
	s := start(t, "--redis.addrs", redistest.Start(t).Addr, "--redis.redlock_addrs", strings.Join(addrs, ","), patientNodes,
		"--lock.version", "redlock")
	if status, code := s.sell(); status != 200 {
		t.Errorf("redlock on three nodes: %d %s", status, code)
	}
	nodes[0].Stop()
	if status, code := s.sell(); status != 200 {
		t.Errorf("redlock on two of three nodes: %d %s", status, code)
	}
	nodes[1].Stop()
	if status, code := s.sell(); status != 503 || code != "redis_unavailable" {
		t.Errorf("redlock on one of three nodes: %d %s", status, code)
	}
	for _, ask := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/readyz", "", 503},
		{"GET", "/lock", "", 503},
		{"DELETE", "/lock", "", 503},
		{"PUT", "/lock", `{"version":"v4"}`, 200}, // the way out
		{"GET", "/readyz", "", 200},
		{"GET", "/lock", "", 200},
		{"DELETE", "/lock", "", 200},
	} {
		if status := s.ask(ask.method, ask.path, ask.body, nil); status != ask.status {
			t.Errorf("%s %s: %d; want %d", ask.method, ask.path, status, ask.status)
		}
	}
	if status, code := s.sell(); status != 200 {
		t.Errorf("v4 without nodes: %d %s", status, code)
	}
}
