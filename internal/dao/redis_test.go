package dao_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
)

// An embedded Redis is asked by few waiters at once, also from other processes; a real one by as many as go-redis's pool allows.
func TestEmbeddedLockPoolIsSmall(t *testing.T) {
	embedded := open(t, dao.Config{EmbeddedAddr: "127.0.0.1:0"})
	joined := open(t, dao.Config{EmbeddedAddr: embedded.Addr, Addrs: []string{embedded.Addr}})
	other := open(t, dao.Config{EmbeddedAddr: "127.0.0.1:1", Addrs: []string{embedded.Addr}})
	if own, few, many := poolSize(t, embedded), poolSize(t, joined), poolSize(t, other); own != 2 || few != 2 || many < 10 {
		t.Errorf("the locks have %d, %d and %d connections; want 2, 2 and ten a core", own, few, many)
	}
}

func open(t *testing.T, cfg dao.Config) *dao.Redis {
	t.Helper()
	r, err := dao.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func poolSize(t *testing.T, r *dao.Redis) int {
	t.Helper()
	client, single := r.Lock.(*redis.Client)
	if !single {
		t.Fatalf("%T", r.Lock)
	}
	return client.Options().PoolSize
}
