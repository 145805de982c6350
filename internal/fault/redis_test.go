package fault_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/fault"
	"lockstep/internal/test/suite"
)

// With an append-only file that is synced after each write, acknowledged writes survive kill -9.
func TestAppendOnlyFileSurvivesKill(t *testing.T) {
	suite.Needs(t, "redis-server")
	server, err := fault.StartRedis(t.Context(), "", t.TempDir(), "--appendonly", "yes", "--appendfsync", "always")
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

func TestStartRedisReturnsCause(t *testing.T) {
	suite.Needs(t, "redis-server")
	if _, err := fault.StartRedis(t.Context(), "", t.TempDir(), "--nonsense", "1"); err == nil ||
		!strings.Contains(err.Error(), "exited at once (exit status 1)") {
		t.Errorf("%v; want it to say how it ended", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fault.StartRedis(ended, "", t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want it cancelled", err)
	}
}

// FindRedis prefers the program named by RedisVariable, then an installed redis-server, then valkey-server.
func TestFindRedisPrecedence(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	t.Setenv(fault.RedisVariable, "")
	install := func(program string) string {
		path := filepath.Join(dir, program)
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if path, err := fault.FindRedis(); !errors.Is(err, fault.ErrNoRedis) {
		t.Errorf("%q, %v; want ErrNoRedis", path, err)
	}
	for _, program := range []string{"valkey-server", "redis-server"} {
		want := install(program)
		if path, err := fault.FindRedis(); path != want || err != nil {
			t.Errorf("%q, %v; want %q", path, err, want)
		}
	}
	want := install("of-choice")
	t.Setenv(fault.RedisVariable, want)
	if path, err := fault.FindRedis(); path != want || err != nil {
		t.Errorf("%q, %v; want %q", path, err, want)
	}
	t.Setenv(fault.RedisVariable, want+"-not")
	if _, err := fault.FindRedis(); errors.Is(err, fault.ErrNoRedis) || !strings.HasPrefix(err.Error(), fault.RedisVariable+": ") {
		t.Errorf("%v; want it to name the variable", err)
	}
}

// A server without a given directory gets a temporary one, which Close removes. If no server can be started, none is left behind.
func TestTemporaryDirectoryIsRemoved(t *testing.T) {
	suite.Needs(t, "redis-server")
	here := t.TempDir()
	t.Setenv("TMPDIR", here)
	left := func() int {
		files, err := os.ReadDir(here)
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	server, err := fault.StartRedis(t.Context(), "", "")
	if err != nil || left() != 1 {
		t.Fatalf("%v, and %d directories; want one", err, left())
	}
	if err := server.Close(); err != nil || left() != 0 {
		t.Errorf("%v, and %d directories are left", err, left())
	}
	if _, err := fault.StartRedis(t.Context(), "no-such-redis", ""); !errors.Is(err, fault.ErrNoRedis) || left() != 0 {
		t.Errorf("%v, and %d directories are left", err, left())
	}
}

// A redis-server that is too old is refused at once, by its version: its ready message differs from the one that StartRedis waits for.
func TestStartRedisRefusesOldVersion(t *testing.T) {
	old := filepath.Join(t.TempDir(), "redis-server")
	if err := os.WriteFile(old, []byte("#!/bin/sh\necho 'Redis server v=2.8.24 sha=00000000:0 malloc=libc bits=64'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := fault.StartRedis(t.Context(), old, "")
	if !errors.Is(err, redisclient.ErrTooOld) || !strings.Contains(err.Error(), "version 2.8.24 is too old: ") {
		t.Errorf("%v; want that it is too old", err)
	}
}
