package shoptest

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/pflag"

	"lockstep/internal/config"
	"lockstep/internal/evolution"
	"lockstep/internal/server"
	"lockstep/internal/test/redisserver"
	"lockstep/internal/test/suite"
)

const (
	// AnyPort is the listen address of a server that takes any free port.
	AnyPort = "127.0.0.1:0"
	// PatientBuyers is a flag: buyers wait for their lock long enough for a busy machine.
	PatientBuyers = "--lock.wait_timeout=2m"
	// PatientNodes is a flag: the nodes of redlock have three seconds to answer, a twentieth of the lock's expiry.
	PatientNodes = "--lock.ttl=1m"
)

// Server is a running server with a client, for one test.
type Server struct {
	Client
	Own     *server.Server        // the server itself
	Config  config.Config         // configuration of the server
	Outside redis.UniversalClient // client of the server's Redis, for commands of the test
}

// Start opens a server with these flags, and closes it when the test ends. Unless the flags name a Redis, it has an embedded one.
func Start(t testing.TB, flags ...string) *Server {
	t.Helper()
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(set, evolution.Names())
	err := set.Parse(append([]string{"--server.addr", AnyPort, "--redis.embedded_addr", AnyPort, PatientBuyers}, flags...))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(set, evolution.Names())
	if err != nil {
		t.Fatal(err)
	}
	own, err := server.Open(t.Context(), cfg, server.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := own.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return &Server{NewClient(t, own.Addr), own, cfg, own.Redis.Store}
}

// NodeFlags starts three Redis servers and returns the flags of a server that uses them as the nodes of redlock.
func NodeFlags(t testing.TB) []string {
	t.Helper()
	var addrs []string
	for range 3 {
		addrs = append(addrs, redisserver.Start(t).Addr)
	}
	return []string{"--redis.redlock_addrs", strings.Join(addrs, ","), PatientNodes}
}

// UnusedAddr returns an address at which nobody listens.
func UnusedAddr(t testing.TB) string {
	t.Helper()
	return "127.0.0.1:" + redisserver.FreePort(t)
}

// Locks returns the strategies that sell correctly as long as nothing fails.
func Locks() []string {
	return []string{"v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "redlock", "local", "atomic", "optimistic"}
}

// Sample returns these names in the quick suite, and all Locks in the long one.
func Sample(names ...string) []string {
	if suite.Long {
		return Locks()
	}
	return names
}
