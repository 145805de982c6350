package dao_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/internal/test/redisserver"
)

// unconnected is the address of a master that a replica never finds.
var unconnected = []any{"REPLICAOF", "127.0.0.1", "1"}

// refusals are the errors that show that a server is a replica.
func refusals(store *dao.Store, r *dao.Redis) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"a command": func(ctx context.Context) error { return r.Lock.Set(ctx, "which", "", 0).Err() },
		"a command to be queued": func(ctx context.Context) error {
			_, err := r.Store.TxPipelined(ctx, func(tx redis.Pipeliner) error { return tx.Set(ctx, "key", "", 0).Err() })
			return err
		},
		"a script": func(ctx context.Context) error {
			return store.Start(ctx, history.Run{ID: "run"}, history.Run{ID: "next"})
		},
		"a read": func(ctx context.Context) error {
			_, err := store.Order(ctx, "none")
			return err
		},
	}
}

// An address leads to another server, and the old one is a replica by now: whatever shows it, no connection to it is used again.
func TestClientsLeaveDemotedMaster(t *testing.T) {
	for _, name := range []string{"a command", "a command to be queued", "a script", "a read"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, promoted := redisserver.Start(t), redisserver.Start(t)
			address := redisserver.NewProxy(t, old.Addr)
			r := open(t, dao.Config{Addrs: []string{address.Addr()}})
			store := dao.NewStore(r.Store, "test", 10)
			at := map[string]*redis.Client{}
			for i, server := range []*redisserver.Server{old, promoted} {
				at[server.Addr] = redisclient.Single(redisclient.Config{Addrs: []string{server.Addr}})
				defer at[server.Addr].Close()
				mustSucceed(t, at[server.Addr].Set(t.Context(), "which", server.Addr, 0).Err())
				mustSucceed(t, at[server.Addr].HSet(t.Context(), dao.RunKey, "id", "run", "initial", i+1).Err())
			}
			_, err := store.ReadState(t.Context())
			mustSucceed(t, err)
			_, err = store.Order(t.Context(), "none") // transactions have connections of their own
			if !errors.Is(err, service.ErrNoOrder) {
				t.Fatal(err)
			}
			for _, client := range []redis.UniversalClient{r.Lock, r.Store} {
				if servers := serversOf(t, client); servers[old.Addr] != probedConnections {
					t.Fatalf("before: %v; want %s alone", servers, old.Addr)
				}
			}
			heard := make(chan string, 10)
			r.Notifier.Subscribe("channel", func(message string) { heard <- message })
			expectMessage(t, heard, "") // it is there

			mustSucceed(t, at[old.Addr].Do(t.Context(), unconnected...).Err())
			address.PointAt(promoted.Addr)
			if err := refusals(store, r)[name](t.Context()); !errors.Is(err, lock.ErrUnavailable) && !redis.IsReadOnlyError(err) {
				t.Fatalf("on the old server: %v; want READONLY", err)
			}
			for _, client := range []redis.UniversalClient{r.Lock, r.Store} {
				if servers := serversOf(t, client); servers[promoted.Addr] != probedConnections {
					t.Errorf("afterwards: %v; want %s alone", servers, promoted.Addr)
				}
			}
			if state, err := store.ReadState(t.Context()); err != nil || state.Run.Initial != 2 {
				t.Errorf("afterwards: %+v, %v; want the run of the new master", state, err)
			}
			expectMessage(t, heard, "") // it is there again
			mustSucceed(t, at[promoted.Addr].Publish(t.Context(), "channel", "hello").Err())
			expectMessage(t, heard, "hello")
		})
	}
}

func expectMessage(t *testing.T, heard <-chan string, want string) {
	t.Helper()
	select {
	case got := <-heard:
		if got != want {
			t.Errorf("heard %q; want %q", got, want)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("heard nothing; want %q", want)
	}
}

// probedConnections is how many serversOf uses at once.
const probedConnections = 5

// serversOf returns the servers that answer connections of a client, all of them in use at the same time, with how many each answers.
func serversOf(t *testing.T, client redis.UniversalClient) map[string]int {
	t.Helper()
	single, ok := client.(*redis.Client)
	if !ok {
		t.Fatalf("%T", client)
	}
	counts := map[string]int{}
	var open []*redis.Conn
	for range probedConnections {
		connection := single.Conn()
		open = append(open, connection)
		server, err := connection.Get(t.Context(), "which").Result()
		mustSucceed(t, err)
		counts[server]++
	}
	for _, connection := range open {
		mustSucceed(t, connection.Close())
	}
	return counts
}

// A replica answers reads with what its master had once, or nothing. So no read that an answer is made of is left to it.
func TestReadsFailOnReplica(t *testing.T) {
	server := redisserver.Start(t)
	nodes := []string{redisserver.Start(t).Addr, redisserver.Start(t).Addr, redisserver.Start(t).Addr}
	r := open(t, dao.Config{Addrs: []string{server.Addr}, RedlockAddrs: nodes})
	store, key := dao.NewStore(r.Store, "test", 10), dao.NewLockKey(r.Lock, r.Nodes, lock.Key)
	mustSucceed(t, store.Start(t.Context(), history.Run{}, history.Run{ID: "run", Lock: "v4", Initial: 500}))
	mustSucceed(t, r.Lock.Set(t.Context(), lock.Key, "owner", 0).Err())
	reads := map[string]func(context.Context) error{
		"Tally": func(ctx context.Context) error { _, err := store.Tally(ctx); return err },
		"State": func(ctx context.Context) error { _, err := store.ReadState(ctx); return err },
		"Beat": func(ctx context.Context) error {
			_, err := store.Beat(ctx, service.Replica{})
			return err
		},
		"Order": func(ctx context.Context) error {
			_, err := store.Order(ctx, "id")
			if errors.Is(err, service.ErrNoOrder) {
				return nil
			}
			return err
		},
		"ReadState": func(ctx context.Context) error { _, err := key.ReadState(ctx, service.LockLayout{}); return err },
	}
	for name, read := range reads {
		if err := read(t.Context()); err != nil {
			t.Errorf("%s on a master: %v", name, err)
		}
	}
	mustSucceed(t, r.Store.Do(t.Context(), unconnected...).Err())
	for name, read := range reads {
		if err := read(t.Context()); !errors.Is(err, lock.ErrUnavailable) || !redis.IsReadOnlyError(err) {
			t.Errorf("%s on a replica: %v; want READONLY", name, err)
		}
	}
	mustSucceed(t, r.Store.Do(t.Context(), "REPLICAOF", "NO", "ONE").Err())
	if tally, err := store.Tally(t.Context()); err != nil || tally.Remaining != 500 {
		t.Errorf("on a master again: %+v, %v", tally, err)
	}

	mustSucceed(t, r.Lock.Del(t.Context(), lock.Key).Err())
	for i, want := range []bool{true, true, false, false} { // of three nodes, so many are replicas
		if i > 0 {
			mustSucceed(t, r.Nodes[i-1].Do(t.Context(), unconnected...).Err())
		}
		if _, err := key.ReadState(t.Context(), service.LockLayout{OnNodes: true}); (err == nil) != want {
			t.Errorf("ReadState, with %d replicas of 3 nodes: %v", i, err)
		}
	}
}

// A key of any type is left as it is.
func TestLookLeavesKeyUnchanged(t *testing.T) {
	eachRedis(t, func(t *testing.T, r *dao.Redis) {
		ctx := t.Context()
		mustSucceed(t, r.Store.Set(ctx, lock.Key, "owner", 0).Err())
		key := dao.NewLockKey(r.Lock, nil, lock.Key)
		if state, err := key.ReadState(ctx, service.LockLayout{}); err != nil || state.Holder != "owner" || state.TTL != -1 {
			t.Errorf("a string: %+v, %v", state, err)
		}
		mustSucceed(t, r.Store.Del(ctx, lock.Key).Err())
		if state, err := key.ReadState(ctx, service.LockLayout{}); err != nil || state.Type != "none" || state.TTL != -2 {
			t.Errorf("no key: %+v, %v", state, err)
		}
		mustSucceed(t, r.Store.HSet(ctx, lock.Key, "owner", 1).Err())
		if state, err := key.ReadState(ctx, service.LockLayout{}); err != nil || state.Holder != "owner" {
			t.Errorf("a hash: %+v, %v", state, err)
		}
	})
}

func mustSucceed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
