package dao_test

import (
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"lockstep/internal/dao"
)

// A Redis evicts keys if it has a bound, and a policy that lets any go. One that does not tell is not said to.
func TestEvictionReturnsPolicy(t *testing.T) {
	for name, c := range map[string]struct {
		bound, policy, want string
	}{
		"no bound":        {"0", "volatile-lru", ""},
		"volatile":        {"1000000", "volatile-lru", "volatile-lru"},
		"any key":         {"1000000", "allkeys-random", "allkeys-random"},
		"nothing evicted": {"1000000", "noeviction", ""},
		"it does not say": {},
	} {
		m := miniredis.RunT(t)
		m.Server().SetPreHook(func(peer *server.Peer, command string, _ ...string) bool {
			switch {
			case command != "CONFIG":
				return false
			case c.bound == "":
				peer.WriteError("NOPERM no")
			default:
				peer.WriteStrings([]string{"maxmemory-clients", "0", "maxmemory", c.bound, "maxmemory-policy", c.policy})
			}
			return true
		})
		r, err := dao.Open(t.Context(), dao.Config{Addrs: []string{m.Addr()}})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Eviction(t.Context()); got != c.want {
			t.Errorf("%s: %q; want %q", name, got, c.want)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
