package dao_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
)

// A Redis that restarts is at the same address, and has forgotten everything.
func TestRestartedRedisIsEmptyAtSameAddress(t *testing.T) {
	server, err := dao.Open(t.Context(), dao.Config{EmbeddedAddr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	for name, one := range map[string]struct {
		client  redis.UniversalClient
		restart func() error
	}{
		"the Redis": {client: server.Store, restart: server.Restart},
		"a node":    {client: server.Nodes[2], restart: server.Nodes[2].Restart},
	} {
		t.Run(name, func(t *testing.T) {
			if err := one.client.Set(t.Context(), "key", "value", 0).Err(); err != nil {
				t.Fatal(err)
			}
			if err := one.restart(); err != nil {
				t.Fatal(err)
			}
			if n, err := one.client.Exists(t.Context(), "key").Result(); n != 0 || err != nil {
				t.Errorf("%d keys are left, %v", n, err)
			}
		})
	}
}
