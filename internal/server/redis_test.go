package server_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/api"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/fault"
	"lockstep/internal/test/redisserver"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

// An address leads from a master to its promoted replica, and the old master stays up as a replica, as after a failover or a change of DNS.
// Sales and whoever looks or changes something agree with the new master, also if it does not have the run: then a new one begins.
func TestRepointedMasterBeginsANewRun(t *testing.T) {
	suite.Needs(t, "redis-server")
	t.Parallel()
	suite.Together(t, []string{"v4", "v7", "v10", "v11", "v4 on an empty master"}, func(t *testing.T, name string) {
		version, empty, _ := strings.Cut(name, " ")
		old, promoted := redisserver.Start(t, "--repl-diskless-sync-delay", "0"), redisserver.Start(t)
		address := redisserver.NewProxy(t, old.Addr)
		oldClient, promotedClient := singleClient(t, old.Addr), singleClient(t, promoted.Addr)
		s := shoptest.Start(t, "--redis.addrs", address.Addr(), "--lock.version", version)
		buyers := shoptest.Gather(t, s.Client, 10)
		suite.Eventually(t, "sales", func() bool { return buyers.Answers(200) > 100 })
		buyers.Leave()
		if empty == "" {
			follow(t, promotedClient, old.Addr)
		}
		if status := s.Ask("PUT", "/inventory", `{"stock":500}`, nil); status != 200 {
			t.Fatalf("PUT /inventory: %d", status)
		}
		before := s.Report().RunID
		suite.Eventually(t, "the run has reached the replica", func() bool {
			id, _ := promotedClient.HGet(t.Context(), "{inventory}:run", "id").Result()
			return empty != "" || id == before
		})

		mustSucceed(t, promotedClient.Do(t.Context(), "REPLICAOF", "NO", "ONE").Err())
		address.PointAt(promoted.Addr)
		mustSucceed(t, oldClient.Do(t.Context(), "REPLICAOF", "127.0.0.1", "1").Err())
		buyers = shoptest.Gather(t, s.Client, 10)
		suite.Eventually(t, "sales on the new master", func() bool { return buyers.Answers(200) > 100 })
		for status, n := range buyers.Leave() {
			if status != 200 && status != 503 {
				t.Errorf("%d sales were answered %d", n, status)
			}
		}
		run, err := promotedClient.HGetAll(t.Context(), "{inventory}:run").Result()
		mustSucceed(t, err)
		got := s.Report()
		if sold := strconv.FormatInt(got.Sold, 10); got.RunID != run["id"] || sold != run["sold"] || got.Sold <= 100 ||
			(got.RunID == before) != (empty == "") {
			t.Errorf("GET /inventory: %+v; the new master has %v", got, run)
		}
		for path, body := range map[string]string{"/lock": `{"version":"v6"}`, "/inventory": `{"stock":7}`} {
			var failed api.ErrorAnswer
			if status := s.Ask("PUT", path, body, &failed); status != 200 {
				t.Errorf("PUT %s: %d %s", path, status, failed.Error.Message)
			}
		}
		if status := s.Ask("GET", "/readyz", "", nil); status != 200 {
			t.Errorf("GET /readyz: %d", status)
		}
	})
}

// A node that became a replica grants no lock, and is no other lock's trouble; the address of one may lead to another master.
func TestRedlockNodesThatBecomeReplicasGrantNothing(t *testing.T) {
	suite.Needs(t, "redis-server")
	t.Parallel()
	var addresses []*fault.Proxy
	var nodes []*redis.Client
	var addrs []string
	for range 3 {
		node := redisserver.Start(t)
		address := redisserver.NewProxy(t, node.Addr)
		addresses, addrs, nodes = append(addresses, address), append(addrs, address.Addr()), append(nodes, singleClient(t, node.Addr))
	}
	s := shoptest.Start(t,
		"--redis.addrs", redisserver.Start(t).Addr, "--redis.redlock_addrs", strings.Join(addrs, ","), shoptest.PatientNodes,
		"--lock.version", "redlock")
	for i, want := range []int{200, 200, 503} { // with so many replicas
		if i > 0 {
			mustSucceed(t, nodes[i-1].Do(t.Context(), "REPLICAOF", "127.0.0.1", "1").Err())
		}
		if status, code := s.Sell(); status != want {
			t.Errorf("a sale, %d of 3 nodes are replicas: %d %s; want %d", i, status, code, want)
		}
		// A node of a busy machine may be slower than the second that readyz waits.
		suite.Eventually(t, fmt.Sprintf("GET /readyz is %d while %d of 3 nodes are replicas", want, i), func() bool {
			var failed api.ErrorAnswer
			status := s.Ask("GET", "/readyz", "", &failed)
			return status == want && (want == 200 || strings.Contains(failed.Error.Message, "READONLY "))
		})
	}
	for _, ask := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/lock", "", 503}, {"DELETE", "/lock?force=true", "", 503},
		{"PUT", "/lock", `{"version":"v4"}`, 200}, // the way out: they are no other lock's trouble
		{"GET", "/readyz", "", 200}, {"GET", "/lock", "", 200}, {"DELETE", "/lock?force=true", "", 200}, {"POST", "/inventory/sale", "", 200},
	} {
		if status, text := s.Send(ask.method, ask.path, ask.body); status != ask.status {
			t.Errorf("%s %s: %d %s; want %d", ask.method, ask.path, status, text, ask.status)
		}
	}
	for _, address := range addresses[:2] {
		address.PointAt(redisserver.Start(t).Addr)
	}
	suite.Eventually(t, "sales on the new masters", func() bool {
		if s.Ask("PUT", "/lock", `{"version":"redlock"}`, nil) != 200 {
			return false
		}
		status, _ := s.Sell()
		return status == 200
	})
	if status := s.Ask("GET", "/readyz", "", nil); status != 200 {
		t.Errorf("GET /readyz: %d", status)
	}
}

// singleClient makes a client of one server from outside, for the test.
func singleClient(t *testing.T, addr string) *redis.Client {
	t.Helper()
	client := redisclient.Single(redisclient.Config{Addrs: []string{addr}})
	t.Cleanup(func() { client.Close() })
	return client
}

// follow makes a server the replica of another, and waits until it has its data.
func follow(t *testing.T, replica *redis.Client, master string) {
	t.Helper()
	host, port, _ := strings.Cut(master, ":")
	mustSucceed(t, replica.Do(t.Context(), "REPLICAOF", host, port).Err())
	suite.Eventually(t, "the replica follows", func() bool {
		info, err := replica.Info(t.Context(), "replication").Result()
		return err == nil && strings.Contains(info, "master_link_status:up")
	})
}

func mustSucceed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Every request is answered while Redis is away and comes back; then all is as before.
func TestServerAnswersWhileRedisIsGone(t *testing.T) {
	redis := redisserver.Start(t)
	s := shoptest.Start(t, "--redis.addrs", redis.Addr, "--lock.version", "v4", "--inventory.initial", "1000000")
	s.Sell()
	http.DefaultClient.CloseIdleConnections()
	before := runtime.NumGoroutine()
	buyers := shoptest.Gather(t, s.Client, 100)
	suite.Eventually(t, "sales", func() bool { return buyers.Answers(200) > 20 })
	redis.Stop()
	suite.Eventually(t, "every buyer was told that Redis is gone", func() bool { return buyers.Answers(503) > 2*100 })
	var answer api.ErrorAnswer
	if status := s.Ask("GET", "/readyz", "", &answer); status != 503 || answer.Error.Code != "redis_unavailable" {
		t.Errorf("GET /readyz without Redis: %d %+v", status, answer)
	}
	if status := s.Ask("GET", "/healthz", "", nil); status != 200 {
		t.Errorf("GET /healthz without Redis: %d", status)
	}
	redis.Run()
	sold := buyers.Answers(200)
	suite.Eventually(t, "sales again", func() bool { return buyers.Answers(200) > sold+200 })
	for status, n := range buyers.Leave() {
		if status != 200 && status != 503 {
			t.Errorf("%d requests were answered %d", n, status)
		}
	}
	suite.Eventually(t, "no sale is in flight", func() bool { return s.Report().InFlight == 0 })
	http.DefaultClient.CloseIdleConnections()
	suite.Eventually(t, "as many goroutines as before", func() bool { return runtime.NumGoroutine() <= before })
}
