package dao_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/test/redisserver"
	"lockstep/internal/test/suite"
)

// move is a slot that moves from one node of a Cluster to another.
type move struct {
	t              *testing.T
	slot           int64
	from, to       *redis.Client
	fromID, toID   string
	others         []*redis.Client
	toHost, toPort string
}

// moveOf prepares the move of a key's slot.
func moveOf(t *testing.T, cluster redis.UniversalClient, nodes []string, key string) *move {
	t.Helper()
	m := &move{t: t}
	var err error
	if m.slot, err = cluster.ClusterKeySlot(t.Context(), key).Result(); err != nil {
		t.Fatal(err)
	}
	for _, addr := range nodes {
		node := redisclient.Single(redisclient.Config{Addrs: []string{addr}})
		t.Cleanup(func() { node.Close() })
		id, err := node.Do(t.Context(), "CLUSTER", "MYID").Text()
		if err != nil {
			t.Fatal(err)
		}
		_, moved := redis.IsMovedError(node.Exists(t.Context(), key).Err())
		switch {
		case !moved:
			m.from, m.fromID = node, id
		case m.to == nil:
			m.to, m.toID = node, id
			if m.toHost, m.toPort, err = net.SplitHostPort(addr); err != nil {
				t.Fatal(err)
			}
		default:
			m.others = append(m.others, node)
		}
	}
	return m
}

// open lets the slot be on the move.
func (m *move) open() {
	mustSucceed(m.t, m.to.Do(m.t.Context(), "CLUSTER", "SETSLOT", m.slot, "IMPORTING", m.fromID).Err())
	mustSucceed(m.t, m.from.Do(m.t.Context(), "CLUSTER", "SETSLOT", m.slot, "MIGRATING", m.toID).Err())
}

// keys moves every key of the slot.
func (m *move) keys() {
	keys, err := m.from.ClusterGetKeysInSlot(m.t.Context(), int(m.slot), 1000).Result()
	mustSucceed(m.t, err)
	for _, key := range keys {
		err := m.from.Migrate(m.t.Context(), m.toHost, m.toPort, key, 0, time.Second).Err()
		mustSucceed(m.t, err)
	}
}

// close gives the slot to its new node.
func (m *move) close() {
	for _, node := range append([]*redis.Client{m.to, m.from}, m.others...) {
		mustSucceed(m.t, node.Do(m.t.Context(), "CLUSTER", "SETSLOT", m.slot, "NODE", m.toID).Err())
	}
}

// While a slot of a Cluster moves, commands, scripts and transactions on its keys are answered, and each is executed once.
func TestCommandsSucceedWhileSlotMoves(t *testing.T) {
	suite.Needs(t, "redis-server")
	t.Parallel()
	nodes := redisserver.StartCluster(t)
	r := open(t, dao.Config{Addrs: nodes, Cluster: true})
	ctx := t.Context()
	const key = "{moving}:n"
	mustSucceed(t, r.Store.Set(ctx, key, 0, 0).Err())
	m := moveOf(t, r.Store, nodes, key)
	asks := map[string]func() error{
		"command": func() error { return r.Store.Incr(ctx, key).Err() },
		"script": func() error {
			return r.Lock.Eval(ctx, "return redis.call('INCR', KEYS[1])", []string{key}).Err()
		},
		"transaction": func() error {
			_, err := r.Store.TxPipelined(ctx, func(tx redis.Pipeliner) error { return tx.Incr(ctx, key).Err() })
			return err
		},
		"two keys": func() error {
			return r.Lock.Eval(ctx, "redis.call('INCR', KEYS[2]); return redis.call('INCR', KEYS[1])", []string{key, "{moving}:both"}).Err()
		},
	}
	mustSucceed(t, r.Store.Set(ctx, "{moving}:both", 0, 0).Err())
	var counted atomic.Int64
	var asking sync.WaitGroup
	ended := make(chan struct{})
	for name, ask := range asks {
		asking.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				if err := ask(); err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				counted.Add(1)
			}
		})
	}
	while := func(what string) { // all of them are answered some more
		before := counted.Load()
		suite.Eventually(t, what, func() bool { return counted.Load() > before+50 || t.Failed() })
	}
	while("counting before the move")
	m.open()
	while("counting while the slot is open")
	m.keys()
	while("counting while the keys are there, and the slot is not")
	if err := r.Store.SetNX(ctx, "{moving}:new", 1, 0).Err(); err != nil {
		t.Errorf("a new key while the slot is open: %v", err)
	}
	m.close()
	while("counting after the move")
	close(ended)
	asking.Wait()
	if n, err := r.Store.Get(ctx, key).Int64(); err != nil || n != counted.Load() {
		t.Errorf("%d commands counted to %d, %v", counted.Load(), n, err)
	}
}

// When a master of a Cluster dies, commands fail without an effect, or with an unknown one, until another is the master. Soon after that,
// they are answered.
func TestClusterFailoverKeepsWriteOutcomes(t *testing.T) {
	suite.LongOnly(t, "a Cluster takes its time to vote")
	t.Parallel()
	nodes := redisserver.StartClusterNodes(t, true)
	r := open(t, dao.Config{Addrs: []string{nodes[0].Addr, nodes[1].Addr, nodes[2].Addr}, Cluster: true})
	ctx := t.Context()
	key := "" // whose slot is the last master's
	for i := 0; key == ""; i++ {
		slot, err := r.Store.ClusterKeySlot(ctx, fmt.Sprint("key", i)).Result()
		mustSucceed(t, err)
		if slot > 2*16384/3 {
			key = fmt.Sprint("key", i)
		}
	}
	mustSucceed(t, r.Store.Set(ctx, key, "before", 0).Err())
	replica := redisclient.Single(redisclient.Config{Addrs: []string{nodes[5].Addr}})
	defer replica.Close()
	nodes[2].Stop()
	err := rediserr.Classify(ctx, "SET", r.Lock.Set(ctx, key, "meanwhile", 0).Err())
	if !errors.Is(err, lock.ErrUnavailable) && !errors.Is(err, lock.ErrOutcomeUnknown) {
		t.Errorf("meanwhile: %v", err)
	}
	suite.Eventually(t, "the replica is the master", func() bool {
		role, err := replica.Do(ctx, "ROLE").Slice()
		return err == nil && role[0] == "master"
	})
	soon, cancel := context.WithTimeout(ctx, 15*time.Second) // go-redis itself would ask again after a minute
	defer cancel()
	for r.Lock.Set(soon, key, "after", 0).Err() != nil {
		if soon.Err() != nil {
			t.Fatal("there is no answer after the promotion")
		}
	}
}
