// Package redisserver starts real Redis servers for tests.
package redisserver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/internal/fault"
	"lockstep/internal/test/suite"
)

// patience is how long a server may take to start.
const patience = 20 * time.Second

// Server is a process of a Redis server for one test. It starts empty and listens on a free loopback port.
type Server struct {
	Addr string // host:port

	t       testing.TB         // test that a failed start fails
	process *fault.RedisServer // process of the server
}

// Start starts a server that ends with the test. PORT in args stands for the server's port. Start calls suite.Needs. A test that starts
// something else earlier must call suite.Needs itself, before that.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	suite.Needs(t, "redis-server")
	port := FreePort(t)
	own, rest := []string{"--save", "", "--appendonly", "no", "--maxclients", "4000"}, args
	if len(args) > 0 && !strings.HasPrefix(args[0], "--") { // a configuration file comes first
		own, rest = slices.Insert(own, 0, args[0]), args[1:]
	}
	for _, arg := range rest {
		own = append(own, strings.ReplaceAll(arg, "PORT", port))
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	process, err := fault.NewRedis("", n, t.TempDir(), own...)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Addr: process.Addr(), t: t, process: process}
	switch err = s.run(); {
	case err == nil:
		t.Cleanup(s.Stop)
	case strings.Contains(err.Error(), "TLS support"):
		t.Skip(err)
	default:
		t.Fatal(err)
	}
	return s
}

// NewProxy opens a proxy to a server until the test ends.
func NewProxy(t testing.TB, server string) *fault.Proxy {
	t.Helper()
	proxy, err := fault.OpenProxy(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
	})
	return proxy
}

// Run starts the process again, after Stop, and waits until it answers.
func (s *Server) Run() {
	s.t.Helper()
	if err := s.run(); err != nil {
		s.t.Fatal(err)
	}
}

// run starts the process and waits until it answers.
func (s *Server) run() error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), patience, fmt.Errorf("%s is not ready after %v", s.Addr, patience))
	defer cancel()
	return s.process.Run(ctx)
}

// Stop kills the process, and waits until it has ended. Its data are lost.
func (s *Server) Stop() { s.process.Kill() }

// portsEach is the number of ports that each call of FreePort reserves: an embedded Redis has masters on the ports after its own.
const portsEach = 8

// FreePort returns a port at which nobody listens: a random one below the ports that the system assigns by itself. A file reserves
// portsEach ports, beginning with this one, so that no other test takes them before this test ends.
func FreePort(t testing.TB) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(20_000 + portsEach*rand.IntN(12_000/portsEach))
		reservation := filepath.Join(os.TempDir(), "lockstep-test-port-"+port)
		if info, err := os.Stat(reservation); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(reservation) // No test lasts an hour, so its test was killed.
		}
		file, err := os.OpenFile(reservation, os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			continue // Another test has this port.
		}
		t.Cleanup(func() { _ = os.Remove(reservation) })
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		listener, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			continue // Another program has this port.
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		return port
	}
	t.Fatal("none of a hundred ports is free")
	return ""
}
