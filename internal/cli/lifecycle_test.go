package cli

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/shop/api"
	"lockstep/internal/test/redistest"
)

func TestFirstLineSaysWhereAndWhat(t *testing.T) {
	addr, redis := unusedAddr(t), unusedAddr(t)
	output, finish := serve(t, "--server.addr", addr, "--redis.embedded_addr", redis, "--lock.version", "v4")
	want := "lockstep: http://" + addr + " · lock v4 (compare-and-delete in Lua) · embedded Redis " + redis + "\n"
	if got := output.String(); got != want {
		t.Errorf("first line %q; want %q", got, want)
	}
	if code := finish(); code != 0 {
		t.Errorf("exit code %d after being told to end", code)
	}
}

func TestSalesInFlightEndFirst(t *testing.T) {
	t.Parallel()
	addr, redisAddr := unusedAddr(t), unusedAddr(t)
	_, finish := serve(t, "--server.addr", addr, "--redis.embedded_addr", redisAddr, "--lock.version", "v4", patientBuyers)
	outside := redisclient.Single(redisclient.Config{Addrs: []string{redisAddr}})
	defer outside.Close()
	if err := outside.Set(t.Context(), lock.Key, "another", 0).Err(); err != nil { // until the server ends, all wait for their lock
		t.Fatal(err)
	}
	answered := make(chan int, 2)
	s := &testServer{addr: addr, t: t}
	for range 2 {
		go func() { status, _ := s.sell(); answered <- status }()
	}
	eventually(t, "both sales are in flight", func() bool { return s.report().InFlight == 2 })
	ended := make(chan int, 1)
	go func() { ended <- finish() }()
	eventually(t, "nobody else is let in", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	if err := outside.Del(t.Context(), lock.Key).Err(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if status := <-answered; status != 200 {
			t.Errorf("a sale in flight was answered %d", status)
		}
	}
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestTroubleAtTheStart(t *testing.T) {
	busy, err := net.Listen("tcp", anyPort)
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	inUse, unused := busy.Addr().String(), unusedAddr(t)
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
		args := append([]string{"--server.addr", anyPort, "--redis.embedded_addr", anyPort}, strings.Fields(c.args)...)
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
	file := filepath.Join(t.TempDir(), "config.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	addr := unusedAddr(t)
	common := "server.addr: " + addr + "\nredis.embedded_addr: 127.0.0.1:0\n"
	write(common + "lock.version: v1\n")
	_, finish := serve(t, "--config", file)
	defer finish()
	s := &testServer{addr: addr, t: t}
	if run := s.report(); run.Lock != "v1" || run.Initial != 200 {
		t.Errorf("at first: %+v", run)
	}
	write(common + "lock.version: v42\n") // refused, and the server goes on
	write(common + "lock:\n  version: v4\ninventory:\n  initial: 7\n")
	eventually(t, "a run with v4 and 7 in stock", func() bool {
		run := s.report()
		return run.Lock == "v4" && run.Initial == 7 && run.Remaining == 7
	})
	s.ask("PUT", "/lock", `{"version":"v6"}`, nil)
	s.sell()
	before := s.report()
	write(common + "lock:\n  version: v4\ninventory:\n  initial: 7\nsale:\n  nested: 1\n")
	eventually(t, "a new run, since another setting changed", func() bool { return s.report().RunID != before.RunID })
	if run := s.report(); run.Lock != "v6" || run.Initial != 7 {
		t.Errorf("a change of sale.nested undid PUT /lock: %+v", run)
	}
}

// Every request is answered while Redis is away and comes back; then all is as before.
func TestRedisGoneAndBack(t *testing.T) {
	redis := redistest.Start(t)
	s := start(t, "--redis.addrs", redis.Addr, "--lock.version", "v4", "--inventory.initial", "1000000")
	s.sell()
	http.DefaultClient.CloseIdleConnections()
	before := runtime.NumGoroutine()
	buyers := gather(t, s, 200)
	eventually(t, "sales", func() bool { return buyers.answers(200) > 20 })
	redis.Stop()
	eventually(t, "every buyer was told that Redis is gone", func() bool { return buyers.answers(503) > 2*200 })
	var answer api.ErrorAnswer
	if status := s.ask("GET", "/readyz", "", &answer); status != 503 || answer.Error.Code != "redis_unavailable" {
		t.Errorf("GET /readyz without Redis: %d %+v", status, answer)
	}
	if status := s.ask("GET", "/healthz", "", nil); status != 200 {
		t.Errorf("GET /healthz without Redis: %d", status)
	}
	redis.Run()
	sold := buyers.answers(200)
	eventually(t, "sales again", func() bool { return buyers.answers(200) > sold+200 })
	for status, n := range buyers.leave() {
		if status != 200 && status != 503 {
			t.Errorf("%d requests were answered %d", n, status)
		}
	}
	eventually(t, "no sale is in flight", func() bool { return s.report().InFlight == 0 })
	http.DefaultClient.CloseIdleConnections()
	eventually(t, "as many goroutines as before", func() bool { return runtime.NumGoroutine() <= before })
}

func TestEndsWithoutRedis(t *testing.T) {
	redis := redistest.Start(t)
	_, finish := serve(t, "--server.addr", anyPort, "--redis.addrs", redis.Addr)
	redis.Stop()
	if code := finish(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// serve runs the command until finish, which gives its exit code.
func serve(t *testing.T, args ...string) (stdout *bytes.Buffer, finish func() int) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- Run(ctx, args, writer, writer) // as on a terminal
		writer.Close()
	}()
	stdout = &bytes.Buffer{}
	line := make([]byte, 1024)
	n, err := reader.Read(line) // the first line is one write
	if err != nil {
		end()
		t.Fatalf("lockstep %v ended with %d", args, <-ended)
	}
	if !strings.HasPrefix(string(line), "lockstep: http://") {
		t.Errorf("the first line is %s", line[:n])
	}
	stdout.Write(line[:n])
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	return stdout, sync.OnceValue(func() int {
		end()
		http.DefaultClient.CloseIdleConnections()
		select {
		case code := <-ended:
			return code
		case <-time.After(patience):
			t.Fatal("it does not end")
			return -1
		}
	})
}
