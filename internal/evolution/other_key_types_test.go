package evolution_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/evolution"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
	"lockstep/internal/test/redisserver"
)

// lockerOn returns the lock with a name on a client, in real time.
func lockerOn(t *testing.T, client redis.UniversalClient, name string) lock.Locker {
	t.Helper()
	row, err := evolution.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	notifier := dao.NewNotifier(client)
	t.Cleanup(func() { _ = notifier.Close() })
	locker := row.New(strategy.Parts{Client: client, Options: lock.Options{
		Key: lock.Key, TTL: time.Minute, RetryInterval: time.Millisecond, WaitTimeout: time.Second, Clock: lock.SystemClock{},
		Process: uuid.NewString(), HandOffLimit: 1, Notifier: notifier, Rand: func(int64) int64 { return 0 },
	}})
	t.Cleanup(func() { _ = lock.Close(context.WithoutCancel(t.Context()), lock.SystemClock{}, locker) })
	return locker
}

// A lock key of another type belongs to another program. A last token that is not a number is treated as lost.
func TestKeysOfOtherTypesAreHandled(t *testing.T) {
	m := miniredis.RunT(t)
	client := redisclient.Single(redisclient.Config{Addrs: []string{m.Addr()}})
	defer client.Close()
	lease, err := lockerOn(t, client, "v4").Lock(t.Context(), "owner")
	if err != nil {
		t.Fatal(err)
	}
	m.Del(lock.Key)
	m.HSet(lock.Key, "another", "1")
	if err := lease.Unlock(t.Context()); !errors.Is(err, lock.ErrNotOwner) {
		t.Errorf("v4: %v; want ErrNotOwner", err)
	}
	for _, name := range []string{"v7", "v10", "v11"} {
		for what, set := range map[string]func(key string){
			"a text": func(key string) { _ = m.Set(key, "abc") },
			"a list": func(key string) { _, _ = m.Lpush(key, "abc") },
		} {
			t.Run(name+" "+what, func(t *testing.T) {
				m.FlushAll()
				set("{" + lock.Key + "}:fence")
				lease, err := lockerOn(t, client, name).Lock(t.Context(), "owner")
				if err != nil {
					t.Fatal(err)
				}
				if err := lease.Unlock(t.Context()); err != nil || lease.Token() < 1e15 {
					t.Errorf("token %d, %v, want one from the clock", lease.Token(), err)
				}
			})
		}
	}
}

// The script of a release fails after it has removed the lock, because it may not publish the message. That is not ErrUnavailable.
func TestUnlockWithRefusedMessageReturnsErrScriptFailed(t *testing.T) {
	server := redisserver.Start(t)
	root := redisclient.Single(redisclient.Config{Addrs: []string{server.Addr}})
	defer root.Close()
	if err := root.Do(t.Context(), "ACL", "SETUSER", "shop", "on", ">p", "~*", "+@all").Err(); err != nil {
		t.Fatal(err)
	}
	client := redisclient.Single(redisclient.Config{Addrs: []string{server.Addr}, Username: "shop", Password: "p"})
	defer client.Close()
	lease, err := lockerOn(t, client, "v10").Lock(t.Context(), "owner")
	if err != nil {
		t.Fatal(err)
	}
	root.RPush(t.Context(), "{distributedLock}:queue", "next")
	root.Set(t.Context(), "{distributedLock}:queue:next", "owner of the next", 0)
	err = lease.Unlock(t.Context())
	if !errors.Is(err, lock.ErrScriptFailed) || errors.Is(err, lock.ErrUnavailable) || !strings.Contains(err.Error(), "channel") {
		t.Errorf("got %v, want ErrScriptFailed with the reason", err)
	}
	if root.Exists(t.Context(), lock.Key).Val() != 0 {
		t.Error("the lock is still there")
	}
}
