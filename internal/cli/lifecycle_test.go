package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/internal/evolution"
	"lockstep/internal/load"
	"lockstep/internal/test/redisserver"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

func TestFirstLineNamesAddressLockAndRedis(t *testing.T) {
	t.Parallel()
	addr, redis := shoptest.UnusedAddr(t), shoptest.UnusedAddr(t)
	output, finish := serve(t, "--server.addr", addr, "--redis.embedded_addr", redis, "--lock.version", "v4")
	want := "lockstep: http://" + addr + " · lock v4 (compare-and-delete in Lua) · embedded Redis " + redis
	if room := load.OwnCapacity(); room.Connections > 0 {
		want += fmt.Sprintf(" · up to %d buyers at once", room.Connections)
	}
	if got := output.String(); got != want+"\n" {
		t.Errorf("first line %q; want %q", got, want)
	}
	if code := finish(); code != 0 {
		t.Errorf("exit code %d after being told to end", code)
	}
}

func TestStartErrorsNameTheCause(t *testing.T) {
	busy, err := net.Listen("tcp", shoptest.AnyPort)
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	inUse, unused := busy.Addr().String(), shoptest.UnusedAddr(t)
	for _, c := range []struct {
		args string
		says []string
	}{
		{"--server.addr " + inUse, []string{"server.addr", inUse, "in use", "--server.addr"}},
		{"--redis.embedded_addr " + inUse, []string{"redis.embedded_addr", inUse, "in use", "another port"}},
		{"--redis.addrs " + unused, []string{"redis.addrs", unused, "refused", "leave redis.addrs empty"}},
		{"--lock.version v42", []string{"lock.version", "v42", strings.Join(evolution.Names(), ", ")}},
		{"--lock.ttl -1s", []string{"lock.ttl", "-1s", "such as 10s"}},
		{"--lock.ttl ten", []string{"lock.ttl", "ten", "such as 10s"}},
		{"--config nowhere.yaml", []string{"nowhere.yaml"}},
		{"nonsense", []string{`unknown command "nonsense"`}},
	} {
		args := append([]string{"--server.addr", shoptest.AnyPort, "--redis.embedded_addr", shoptest.AnyPort}, strings.Fields(c.args)...)
		code, stdout, stderr := command(t, args...)
		if code != 2 || stdout != "" {
			t.Errorf("%s: exit code %d, %s", c.args, code, stdout)
		}
		for _, says := range c.says {
			if !strings.Contains(stderr, says) {
				t.Errorf("%s: %q does not say %q", c.args, stderr, says)
			}
		}
	}
}

func TestChangedFileTakesEffect(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	addr := shoptest.UnusedAddr(t)
	common := "server.addr: " + addr + "\nredis.embedded_addr: 127.0.0.1:0\n"
	write(common + "lock.version: v1\n")
	_, finish := serve(t, "--config", file)
	defer finish()
	s := shoptest.NewClient(t, addr)
	if run := s.Report(); run.Lock != "v1" || run.Initial != 200 {
		t.Errorf("at first: %+v", run)
	}
	write(common + "lock.version: v42\n") // refused; the server keeps its configuration
	write(common + "lock:\n  version: v4\ninventory:\n  initial: 7\n")
	suite.Eventually(t, "a run with v4 and 7 in stock", func() bool {
		run := s.Report()
		return run.Lock == "v4" && run.Initial == 7 && run.Remaining == 7
	})
	s.Ask("PUT", "/lock", `{"version":"v6"}`, nil)
	s.Sell()
	before := s.Report()
	write(common + "lock:\n  version: v4\ninventory:\n  initial: 7\nsale:\n  nested: 1\n")
	suite.Eventually(t, "a new run, since another setting changed", func() bool { return s.Report().RunID != before.RunID })
	if run := s.Report(); run.Lock != "v6" || run.Initial != 7 {
		t.Errorf("a change of sale.nested undid PUT /lock: %+v", run)
	}
}

func TestServerEndsWithoutRedis(t *testing.T) {
	t.Parallel()
	redis := redisserver.Start(t)
	_, finish := serve(t, "--server.addr", shoptest.AnyPort, "--redis.addrs", redis.Addr)
	redis.Stop()
	if code := finish(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// serve runs the command until finish is called, which returns its exit code.
func serve(t *testing.T, args ...string) (stdout *bytes.Buffer, finish func() int) {
	t.Helper()
	return serveLogging(t, nil, args...)
}

// serveLogging is serve with a separate standard error. nil: standard output, as on a terminal.
func serveLogging(t *testing.T, stderr io.Writer, args ...string) (stdout *bytes.Buffer, finish func() int) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	ended := make(chan int, 1)
	if stderr == nil {
		stderr = writer
	}
	go func() {
		ended <- Run(ctx, args, writer, stderr)
		writer.Close()
	}()
	stdout = &bytes.Buffer{}
	line, n := make([]byte, 1024), 0
	for !strings.HasPrefix(string(line), "lockstep: http://") { // log lines come first if the start takes long
		var err error
		if n, err = reader.Read(line); err != nil { // the first line is one write
			end()
			t.Fatalf("lockstep %v ended with %d", args, <-ended)
		}
	}
	stdout.Write(line[:n])
	var rest bytes.Buffer
	read := make(chan struct{})
	go func() { defer close(read); _, _ = io.Copy(&rest, reader) }()
	return stdout, sync.OnceValue(func() int {
		end()
		http.DefaultClient.CloseIdleConnections()
		select {
		case code := <-ended:
			if <-read; code != 0 {
				t.Logf("lockstep %v says %s", args, &rest)
			}
			return code
		case <-time.After(suite.Patience):
			t.Fatal("the command does not end")
			return -1
		}
	})
}
