package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/witness"
)

// Faults of a Redis of the stage. Node 0 is the Redis with the stock.

const (
	syncTimeout = 10 * time.Second // time limit for a Redis replica to catch up with its master
	closedPort  = "1"              // loopback port on which no Redis listens
	fillerSize  = 64 << 10         // bytes of one filler value
	fillerCount = 64               // number of filler values: together twice the memory that the limit leaves free
)

// Empty restarts a Redis without its data.
func (s *Stage) Empty(node int) {
	s.inject("", node, witness.KindEmptied, func() error { return s.masters[node].restart(s.ctx) })
}

// SaveSnapshot saves a snapshot of a real Redis.
func (s *Stage) SaveSnapshot() {
	s.do(snapshotStep(), func() error { return send(s.ctx, s.masters[0].addr, "SAVE") })
}

// RollBack kills a real Redis and restarts it with its last snapshot.
func (s *Stage) RollBack() {
	s.inject("", 0, witness.KindRolledBack, func() error { return s.masters[0].restart(s.ctx) })
}

// Evict fills a real Redis until it is out of memory, so that it evicts every key with an expiry, and then frees the memory.
func (s *Stage) Evict(node int) {
	s.inject("", node, witness.KindEvicted, func() error {
		return withClient(s.masters[node].addr, func(client *redis.Client) error { return evictKeys(s.ctx, client) })
	})
}

// evictKeys makes a Redis evict every key with an expiry: it limits the memory, and writes keys without an expiry until Redis is out of
// memory. It then removes those keys and the limit. The eviction policy remains volatile-lru.
func evictKeys(ctx context.Context, client *redis.Client) error {
	set := func(name string, value any) error { return client.ConfigSet(ctx, name, fmt.Sprint(value)).Err() }
	used, err := client.InfoMap(ctx, "memory").Result()
	if err != nil {
		return err
	}
	bytes, err := strconv.Atoi(used["Memory"]["used_memory"])
	err = errors.Join(err, set("maxmemory-policy", "volatile-lru"), set("maxmemory", bytes+fillerCount/2*fillerSize))
	if err != nil {
		return err
	}
	keys := make([]string, fillerCount)
	for i := range keys {
		keys[i] = fmt.Sprint("filler:", i)
		if err = client.Set(ctx, keys[i], make([]byte, fillerSize), 0).Err(); err != nil {
			break
		}
	}
	if redis.IsOOMError(err) {
		return errors.Join(set("maxmemory", 0), client.Unlink(ctx, keys...).Err())
	}
	return cmp.Or(err, errRoomLeft)
}

// Crash kills a real Redis, which is not restarted.
func (s *Stage) Crash(node int) {
	s.inject("", node, witness.KindCrashes, func() error {
		s.masters[node].real.Kill()
		return nil
	})
}

// Lag stops the replication to the replica of Redis, once the replica has all earlier writes.
func (s *Stage) Lag() {
	s.inject("", 0, witness.KindReplicationStops, func() error {
		if err := withClient(s.masters[0].addr, func(client *redis.Client) error { return awaitSync(s.ctx, client) }); err != nil {
			return err
		}
		host, _, err := net.SplitHostPort(s.standby.Addr())
		return errors.Join(err, send(s.ctx, s.standby.Addr(), "REPLICAOF", host, closedPort))
	})
}

// FailOver kills Redis, and promotes its replica. The shop keeps using the same addresses.
func (s *Stage) FailOver() {
	s.inject("", 0, witness.KindFailsOver, func() error {
		s.masters[0].real.Kill()
		err := send(s.ctx, s.standby.Addr(), "REPLICAOF", "NO", "ONE")
		for _, proxies := range s.proxies {
			proxies[0].PointAt(s.standby.Addr())
			proxies[0].Disconnect() // Otherwise the next sale may use a connection that breaks only later.
		}
		return err
	})
}

// EndRedis ends Redis: it breaks the connections of the replicas, and refuses new ones. A real Redis is also killed.
func (s *Stage) EndRedis() {
	s.inject("", 0, witness.KindRedisUnreachable, func() (err error) {
		for _, proxies := range s.proxies {
			err = errors.Join(err, proxies[0].End())
		}
		if server := s.masters[0].real; server != nil {
			server.Kill()
		}
		return err
	})
}

// BeginRedis restarts Redis with its data.
func (s *Stage) BeginRedis() {
	if server := s.masters[0].real; server != nil {
		s.retry(restartStep(), func() error { return server.Run(s.ctx) }) // Another process may hold the port for a moment.
	}
	for _, proxies := range s.proxies {
		s.retry(restartStep(), proxies[0].Begin)
	}
	if s.err == nil {
		s.recordNow("", 0, witness.KindRedisReachable)
	}
}

// HangRedis makes Redis execute no commands of the replicas for a duration. A real Redis gets CLIENT PAUSE. The embedded Redis lacks that
// command, so the proxies hold the commands back.
func (s *Stage) HangRedis(duration time.Duration) {
	s.inject("", 0, witness.KindRedisHangs, func() error {
		if redis := s.masters[0]; redis.real != nil {
			return send(s.ctx, redis.addr, "CLIENT", "PAUSE", duration.Milliseconds())
		}
		for _, proxies := range s.proxies {
			proxies[0].Hang(duration)
		}
		return nil
	})
}

// send sends one command to a Redis.
func send(ctx context.Context, addr string, command ...any) error {
	return withClient(addr, func(client *redis.Client) error { return client.Do(context.WithoutCancel(ctx), command...).Err() })
}

// awaitSync waits until the replica of a Redis has all its writes.
func awaitSync(ctx context.Context, client *redis.Client) (err error) {
	connection := client.Conn() // WAIT only counts writes that were sent on the same connection.
	defer func() { err = errors.Join(err, connection.Close()) }()
	if err := connection.Do(ctx, "PUBLISH", "lab", "").Err(); err != nil {
		return err
	}
	replicas, err := connection.Wait(ctx, 1, syncTimeout).Result()
	if err == nil && replicas == 0 {
		err = errTooLong
	}
	return err
}

// withClient calls do with a client of a Redis, and closes the client.
func withClient(addr string, do func(client *redis.Client) error) error {
	client := redisclient.Single(redisclient.Config{Addrs: []string{addr}})
	return errors.Join(do(client), client.Close())
}
