package cli

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/api"
	"lockstep/internal/cluster"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

// testCluster is a running lockstep cluster. Its embedded Client sends requests to the front.
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
	return &testCluster{shoptest.NewClient(t, addr), t, client, finish}
}

func (c *testCluster) replicas() (answers []cluster.ReplicaAnswer) {
	c.t.Helper()
	if status := c.Ask("GET", "/replicas", "", &answers); status != 200 {
		c.t.Fatalf("GET /replicas: %d", status)
	}
	return answers
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
	c := startCluster(t, "--replicas", "3", shoptest.PatientNodes, "--sale.think_time", "2ms") // long enough that even 45 buyers overlap
	for _, lock := range shoptest.Sample("v4", "v10", "redlock", "local") {
		code, stdout, stderr := command(t, "burst", "--target", c.URL(), "-n", "45", "-c", "45", "--lock", lock, "--json")
		want := 0
		if lock == "local" {
			want = 1
		}
		if code != want {
			t.Errorf("%s: exit code %d; want %d: %s%s", lock, code, want, stdout, stderr)
		}
		lines, err := c.redis.HVals(t.Context(), "{inventory}:ledger:"+c.Report().RunID).Result()
		for _, replica := range []string{"r1", "r2", "r3"} {
			if err != nil || !strings.Contains(strings.Join(lines, ""), `"replica":"`+replica+`"`) {
				t.Errorf("%s: %s sold nothing, %v", lock, replica, err)
			}
		}
	}
}

// If a replica dies during a sale, its buyer gets no answer; the others wait at most one expiry. v1, whose lock never expires, is in the
// lab holder-dies.
func TestClusterSellsAfterDeathOfHolder(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "--replicas", "3", "--lock", "v4", "--lock.ttl", "2s", "--lock.wait_timeout", "5s", "--sale.think_time", "2s")
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
	lookup := func() string { // the front chose the order id that the replica sold by
		var answer api.ErrorAnswer
		c.Ask("GET", "/orders/"+dead.OrderID, "", &answer)
		return answer.Error.Code
	}
	if got := lookup(); got != "order_in_flight" {
		t.Errorf("the dead replica's order: %s; want order_in_flight, until its replica counts as dead", got)
	}
	if status, code := c.Sell(); status != 200 {
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
}

func TestClusterRejectsWrongFlags(t *testing.T) {
	assertRefused(t, map[string]string{
		"cluster --server.addr 127.0.0.1:0 --replicas 0":                            "--replicas 0 is not allowed: want from 1 to 100",
		"cluster --server.addr 127.0.0.1:0 --lock v42":                              `"v42" is not allowed: want one of v0, v1`,
		"cluster --server.addr 127.0.0.1:0 --redis.addrs " + shoptest.UnusedAddr(t): "no Redis answers",
		"cluster --server.addr 127.0.0.1:0 --redis.embedded_addr 1.2.3.4:80":        "redis.embedded_addr",
	})
}
