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
		"no bound":        {bound: "0", policy: "volatile-lru"},
		"volatile":        {bound: "1000000", policy: "volatile-lru", want: "volatile-lru"},
		"any key":         {bound: "1000000", policy: "allkeys-random", want: "allkeys-random"},
		"nothing evicted": {bound: "1000000", policy: "noeviction"},
		"it does not say": {},
	} {
		t.Run(name, func(t *testing.T) {
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
			if got := r.EvictionPolicy(t.Context()); got != c.want {
				t.Errorf("%q; want %q", got, c.want)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
