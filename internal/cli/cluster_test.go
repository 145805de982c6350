package cli

import (
	"encoding/json"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/cluster"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/service/history"
	"lockstep/internal/shop/api"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

// testCluster is a running lockstep cluster, its front asked as a server is.
type testCluster struct {
	shoptest.Client
	t      *testing.T
	redis  *redis.Client
	finish func() int
}

func startCluster(t *testing.T, args ...string) *testCluster {
	t.Helper()
	addr, redisAddr := shoptest.UnusedAddr(t), shoptest.UnusedAddr(t)
	common := []string{"cluster", "--server.addr", addr, "--redis.embedded_addr", redisAddr, "--log.level", "error", shoptest.PatientBuyers}
	line, finish := serve(t, append(common, args...)...)
	if !strings.Contains(line.String(), "http://"+addr) || !strings.Contains(line.String(), "replicas") {
		t.Errorf("first line: %s", line)
	}
	client := redisclient.Single(redisclient.Config{Addrs: []string{redisAddr}})
	t.Cleanup(func() {
		client.Close()
		http.DefaultClient.CloseIdleConnections()
		if code := finish(); code != 0 {
			t.Errorf("the cluster ended with %d", code)
		}
	})
	return &testCluster{shoptest.At(t, addr), t, client, finish}
}

func (c *testCluster) replicas() (answers []cluster.ReplicaAnswer) {
	c.t.Helper()
	if status := c.Ask("GET", "/replicas", "", &answers); status != 200 {
		c.t.Fatalf("GET /replicas: %d", status)
	}
	return answers
}

// orders reads the ledger of every run.
func (c *testCluster) orders() map[string][]history.Order {
	c.t.Helper()
	keys, err := c.redis.Keys(c.t.Context(), "{inventory}:ledger:*").Result()
	if err != nil {
		c.t.Fatal(err)
	}
	orders := map[string][]history.Order{}
	for _, key := range keys {
		lines, err := c.redis.HVals(c.t.Context(), key).Result()
		if err != nil {
			c.t.Fatal(err)
		}
		for _, line := range lines {
			var order history.Order
			if err := json.Unmarshal([]byte(line), &order); err != nil {
				c.t.Fatal(err)
			}
			orders[order.RunID] = append(orders[order.RunID], order)
		}
	}
	return orders
}

// killHolder kills the replica that holds the lock and its only sale.
func (c *testCluster) killHolder() cluster.ReplicaAnswer {
	c.t.Helper()
	var victim cluster.ReplicaAnswer
	suite.Eventually(c.t, "a replica holds the lock", func() bool {
		if n, err := c.redis.Exists(c.t.Context(), "distributedLock").Result(); err != nil || n == 0 {
			return false
		}
		for _, replica := range c.replicas() {
			if replica.InFlight == 1 {
				victim = replica
			}
		}
		return victim.PID != 0
	})
	process, err := os.FindProcess(victim.PID)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return victim
}

func TestClusterShowsWhichLocksAreDistributed(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "--replicas", "3", shoptest.PatientNodes, "--sale.think_time", "2ms") // so that few buyers meet, too
	for _, lock := range shoptest.Sample("v4", "v10", "redlock", "local") {
		code, stdout, stderr := command(t, "burst", "--target", c.URL(), "-n", "45", "-c", "45", "--lock", lock, "--json")
		want := 0
		if lock == "local" {
			want = 1
		}
		if code != want {
			t.Errorf("%s: exit code %d; want %d: %s%s", lock, code, want, stdout, stderr)
		}
		sold := map[string]int{}
		run := c.Report()
		for _, order := range c.orders()[run.RunID] {
			sold[order.Replica]++
		}
		if len(sold) != 3 || sold["r1"] == 0 || sold["r2"] == 0 || sold["r3"] == 0 {
			t.Errorf("%s: sold by replica: %v; want all three to sell", lock, sold)
		}
	}
}

func TestClusterOfOneIsAProcess(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "--replicas", "1", "--lock", "local")
	if code, stdout, stderr := command(t, "burst", "--target", c.URL(), "-n", "100", "-c", "100"); code != 0 {
		t.Errorf("local in one process: exit code %d: %s%s", code, stdout, stderr)
	}
}

func TestClusterSwitchesAllReplicas(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "--replicas", "3", "--inventory.initial", "100000")
	buyers, items := 12, 8
	if suite.Long {
		buyers, items = 50, 20
	}
	var sold sync.WaitGroup
	for range buyers {
		sold.Go(func() {
			for range items {
				if status, code := c.Sell(); status != 200 {
					t.Errorf("sale: %d %s", status, code)
				}
			}
		})
	}
	for _, version := range []string{"v4", "v2", "v6", "local", "v5"} {
		c.Switch(version)
	}
	sold.Wait()
	for _, replica := range c.replicas() {
		if replica.Lock != "v5" {
			t.Errorf("%s sells with %s; want v5", replica.Name, replica.Lock)
		}
	}
	total := 0
	for run, orders := range c.orders() {
		total += len(orders)
		for _, order := range orders {
			if order.Lock != orders[0].Lock {
				t.Errorf("run %s has orders of %s and %s", run, orders[0].Lock, order.Lock)
				break
			}
		}
	}
	if total != buyers*items {
		t.Errorf("%d orders; want one for each of %d sales", total, buyers*items)
	}
}

func TestClusterWithADeadHolder(t *testing.T) {
	t.Parallel()
	for _, lock := range []string{"v1", "v4"} {
		t.Run(lock, func(t *testing.T) {
			t.Parallel()
			c := startCluster(t, "--replicas", "3", "--lock", lock, "--lock.ttl", "2s", "--lock.wait_timeout", "5s", "--sale.think_time", "2s")
			answered := make(chan api.ErrorAnswer, 1)
			go func() {
				var answer api.ErrorAnswer
				c.Ask("POST", "/inventory/sale", "", &answer)
				answered <- answer
			}()
			victim := c.killHolder()
			dead := (<-answered).Error
			if dead.Code != "bad_gateway" || dead.OrderID == "" {
				t.Errorf("the dead replica's sale was answered %+v; want bad_gateway, and an order's id", dead)
			}
			lookup := func() string { // the front chose the id, and the replica sold by it
				var answer api.ErrorAnswer
				c.Ask("GET", "/orders/"+dead.OrderID, "", &answer)
				return answer.Error.Code
			}
			if got := lookup(); got != "order_in_flight" {
				t.Errorf("the dead replica's order: %s; want order_in_flight, until its replica counts as dead", got)
			}
			status, code := c.Sell()
			if lock == "v1" {
				if status != 503 || code != "lock_timeout" {
					t.Errorf("sale under a lock left behind: %d %s; want 503 lock_timeout", status, code)
				}
				c.Ask("DELETE", "/lock", "", nil)
				status, code = c.Sell()
			}
			if status != 200 {
				t.Errorf("sale after the lock was free again: %d %s", status, code)
			}
			suite.Eventually(t, "the dead replica is up again", func() bool {
				for _, replica := range c.replicas() {
					if replica.Name == victim.Name {
						return replica.State == cluster.Up && replica.Restarts == 1 && replica.PID != victim.PID
					}
				}
				return false
			})
			suite.Eventually(t, "the dead replica's sale is known not to be made", func() bool { return lookup() == "no_order" })
			if run := c.Report(); run.InFlight != 0 || run.Lost != 0 || run.Sold != 1 {
				t.Errorf("%+v; want one sale, and none lost", run)
			}
		})
	}
}

func TestClusterLeavesNoProcess(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no way to ask whether a process is there without waiting for it")
	}
	c := startCluster(t, "--replicas", "2")
	replicas := c.replicas()
	if code := c.finish(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, replica := range replicas {
		process, err := os.FindProcess(replica.PID)
		if err != nil {
			continue
		}
		if err := process.Signal(syscall.Signal(0)); err == nil {
			t.Errorf("%s is still there, as process %d", replica.Name, replica.PID)
		}
	}
}

func TestClusterTrouble(t *testing.T) {
	for args, says := range map[string]string{
		"--replicas 0": "--replicas 0 is not allowed: want from 1 to 100",
		"--lock v42":   `"v42" is not allowed: want one of v0, v1`,
		"--redis.addrs " + shoptest.UnusedAddr(t): "no Redis answers",
		"--redis.embedded_addr 1.2.3.4:80":        "redis.embedded_addr",
	} {
		code, stdout, stderr := command(t, append([]string{"cluster", "--server.addr", shoptest.AnyPort}, strings.Fields(args)...)...)
		if code != 2 || !strings.Contains(stderr, says) || stdout != "" {
			t.Errorf("cluster %s: exit code %d, %s%s; want 2 and %q", args, code, stdout, stderr, says)
		}
	}
}
