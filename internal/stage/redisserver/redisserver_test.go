package redisserver_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/stage/redisserver"
	"lockstep/internal/test/suite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// With an append-only file that is written always, what was answered is there after kill -9.
func TestItKeepsWhatItWrote(t *testing.T) {
	suite.Needs(t, "redis-server")
	server, err := redisserver.Start(t.Context(), "redis-server", t.TempDir(), "--appendonly", "yes", "--appendfsync", "always")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Kill()
	client := redisclient.Single(redisclient.Config{Addrs: []string{server.Addr()}})
	defer client.Close()
	if err := client.Set(t.Context(), "key", "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	if err := client.Get(t.Context(), "key").Err(); err == nil {
		t.Error("it answers after it was killed")
	}
	if pid := server.PID(); pid != 0 {
		t.Errorf("process %d is left", pid)
	}
	if err := server.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := client.Get(t.Context(), "key").Result(); got != "value" || err != nil {
		t.Errorf("started again, it holds %q, %v", got, err)
	}
}

func TestStartSaysThatThereIsNone(t *testing.T) {
	if _, err := redisserver.Start(t.Context(), "no-such-server", t.TempDir()); !errors.Is(err, redisserver.ErrNone) {
		t.Errorf("%v; want ErrNone", err)
	}
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	suite.Needs(t, "redis-server")
	if _, err := redisserver.Start(t.Context(), "redis-server", t.TempDir(), "--nonsense", "1"); err == nil ||
		!strings.Contains(err.Error(), "ended at once, exit status 1") {
		t.Errorf("%v; want it to say how it ended", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := redisserver.Start(ended, "redis-server", t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want it cancelled", err)
	}
}
