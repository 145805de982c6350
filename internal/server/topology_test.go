package server_test

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/test/redisserver"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

// Sells with every lock first: after the failover, one master is left.
func TestSentinelSetFailsOver(t *testing.T) {
	t.Parallel()
	sentinels := redisserver.StartSentinels(t)
	t.Run("every lock", func(t *testing.T) {
		sellsWithEveryLock(t, "--redis.master_name", redisserver.MasterName, "--redis.addrs", strings.Join(sentinels, ","))
	})
	t.Run("a failover", func(t *testing.T) { failoverDuringABurst(t, sentinels) })
}

func TestRedisClusterSellsWithEachLock(t *testing.T) {
	t.Parallel()
	sellsWithEveryLock(t, "--redis.cluster", "--redis.addrs", strings.Join(redisserver.StartCluster(t), ","))
}

func sellsWithEveryLock(t *testing.T, flags ...string) {
	t.Helper()
	buyers := 40
	if suite.Long {
		buyers = 200
	}
	s := shoptest.Start(t, append(shoptest.NodeFlags(t), flags...)...)
	all := append([]string{"v0"}, shoptest.Sample("v4", "v6", "v10", "v11", "redlock", "atomic", "optimistic")...)
	if s.Own.Redis.Servers.CompareAndDelete != "" {
		all = append(all, "delex")
	}
	for _, lock := range all {
		result := s.Burst(buyers, lock)
		if result.OK != buyers || result.Sold != int64(buyers) {
			t.Errorf("%s: %+v; want as many sold as there are buyers, %d", lock, result, buyers)
		}
		if lock != "v0" && result.Verdict.ExitCode() != 0 {
			t.Errorf("%s: %s", lock, result.Verdict)
		}
	}
	if status := s.Ask("GET", "/readyz", "", nil); status != 200 {
		t.Errorf("GET /readyz: %d", status)
	}
}

// failoverDuringABurst fails a master over during a burst: every request is answered, some with 503, and sales succeed again afterwards.
// Writes that the new master had not received are lost, and the verdict may report them.
func failoverDuringABurst(t *testing.T, sentinels []string) {
	t.Helper()
	s := shoptest.Start(t, "--redis.master_name", redisserver.MasterName, "--redis.addrs", strings.Join(sentinels, ","),
		"--lock.version", "v4", "--lock.ttl", "2s", "--inventory.initial", "1000000")
	buyers := shoptest.Gather(t, s.Client, 50)
	suite.Eventually(t, "sales", func() bool { return buyers.Answers(200) > 100 })
	sentinel := redis.NewSentinelClient(redisclient.Options(redisclient.Config{Addrs: []string{sentinels[0]}}).Simple())
	defer sentinel.Close()
	old, err := sentinel.GetMasterAddrByName(t.Context(), redisserver.MasterName).Result()
	if err != nil {
		t.Fatal(err)
	}
	if err := sentinel.Failover(t.Context(), redisserver.MasterName).Err(); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "another master", func() bool {
		now, err := sentinel.GetMasterAddrByName(t.Context(), redisserver.MasterName).Result()
		return err == nil && now[1] != old[1]
	})
	sold := buyers.Answers(200)
	suite.Eventually(t, "sales on the new master", func() bool { return buyers.Answers(200) > sold+100 })
	statuses := buyers.Leave()
	for status, n := range statuses {
		if status != 200 && status != 503 {
			t.Errorf("%d requests were answered %d", n, status)
		}
	}
	t.Logf("answers %v; %+v", statuses, s.Report())
}
