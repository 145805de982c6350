package redisserver

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
)

// joinTimeout is how long servers may take to find each other. A Sentinel that was once delayed by a busy machine does nothing for 30
// seconds (tilt mode), and then asks every 10 seconds.
const joinTimeout = 2 * time.Minute

// MasterName is the Sentinels' name of the master.
const MasterName = "shop"

// StartSentinels starts a master, its replica, and three Sentinels that know both. It returns the Sentinels' addresses.
func StartSentinels(t testing.TB) []string {
	t.Helper()
	master := Start(t, "--repl-diskless-sync-delay", "0") // The default waits five seconds for more replicas.
	_, port, err := net.SplitHostPort(master.Addr)
	if err != nil {
		t.Fatal(err)
	}
	linked := redisclient.Single(redisclient.Config{Addrs: []string{Start(t, "--replicaof", "127.0.0.1", port).Addr}})
	defer linked.Close()
	until(t, "the replica follows the master", func(ctx context.Context) bool { // a Sentinel that came before would ask again in 10 s
		info, err := linked.Info(ctx, "replication").Result()
		return err == nil && strings.Contains(info, "master_link_status:up")
	})
	var addrs []string
	for range 3 {
		file := filepath.Join(t.TempDir(), "sentinel.conf") // a Sentinel writes into its own
		text := fmt.Sprintf("sentinel monitor %[1]s 127.0.0.1 %[2]s 2\nsentinel down-after-milliseconds %[1]s 2000\n"+
			"sentinel failover-timeout %[1]s 10000\n", MasterName, port)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		addrs = append(addrs, Start(t, file, "--sentinel").Addr)
	}
	for _, addr := range addrs {
		sentinel := redis.NewSentinelClient(redisclient.Options(redisclient.Config{Addrs: []string{addr}}).Simple())
		until(t, "the Sentinels agree and know the replica", func(ctx context.Context) bool {
			replicas, err := sentinel.Replicas(ctx, MasterName).Result()
			return err == nil && len(replicas) == 1 && replicas[0]["master-link-status"] == "ok" &&
				sentinel.CkQuorum(ctx, MasterName).Err() == nil
		})
		sentinel.Close()
	}
	return addrs
}

// StartCluster starts a Redis Cluster of three masters and returns their addresses.
func StartCluster(t testing.TB) []string {
	t.Helper()
	var addrs []string
	for _, node := range StartClusterNodes(t, false) {
		addrs = append(addrs, node.Addr)
	}
	return addrs
}

// StartClusterNodes starts a Redis Cluster of three masters and returns them, followed by a replica of each if replicated is true.
func StartClusterNodes(t testing.TB, replicated bool) []*Server {
	t.Helper()
	const masters, slots = 3, 16384
	size := masters
	if replicated {
		size *= 2
	}
	var nodes []*Server
	var clients []*redis.Client
	first, firstBus := "", ""
	for i := range size {
		bus := FreePort(t)
		// An election that fails, because a master has not noticed the failure yet, is repeated after four times the timeout.
		node := Start(t, "--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", "2500",
			"--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0")
		client := redisclient.Single(redisclient.Config{Addrs: []string{node.Addr}})
		t.Cleanup(func() { client.Close() })
		nodes, clients = append(nodes, node), append(clients, client)
		_, port, err := net.SplitHostPort(node.Addr)
		if err != nil {
			t.Fatal(err)
		}
		if i < masters {
			if err := client.ClusterAddSlotsRange(t.Context(), i*slots/masters, (i+1)*slots/masters-1).Err(); err != nil {
				t.Fatal(err)
			}
		}
		if i == 0 {
			first, firstBus = port, bus
		} else if err := client.Do(t.Context(), "CLUSTER", "MEET", "127.0.0.1", first, firstBus).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, client := range clients {
		until(t, "every node knows every slot", func(ctx context.Context) bool {
			info, err := client.ClusterInfo(ctx).Result()
			return err == nil && strings.Contains(info, "cluster_state:ok") && strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d", size))
		})
	}
	for i, client := range clients[masters:] {
		id, err := clients[i].Do(t.Context(), "CLUSTER", "MYID").Text()
		if err != nil {
			t.Fatal(err)
		}
		until(t, "a replica follows its master", func(ctx context.Context) bool {
			_ = client.ClusterReplicate(ctx, id).Err() // Fails until the replica knows the master.
			info, err := client.Info(ctx, "replication").Result()
			return err == nil && strings.Contains(info, "master_link_status:up")
		})
	}
	return nodes
}

// until waits until a condition holds, and fails the test after joinTimeout. what describes the condition.
func until(t testing.TB, what string, holds func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), joinTimeout)
	defer cancel()
	for !holds(ctx) {
		select {
		case <-ctx.Done():
			t.Fatalf("after %v still not: %s", joinTimeout, what)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
