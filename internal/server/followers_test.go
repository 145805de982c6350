package server

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"lockstep/internal/api"
	"lockstep/internal/api/route"
	"lockstep/internal/config"
	"lockstep/internal/dao"
)

// Event streams are bounded in total and per client address, and each peer of a server raises both bounds by one. A replica behind a front
// has no bound, because the front counts the streams.
func TestEventStreamsAreBounded(t *testing.T) {
	const tried = 50
	for _, c := range []struct {
		name        string
		peers       []string
		behindFront bool
		alone, all  int // who follow, if they are of one address, and if each is of its own
	}{
		{"no peers", nil, false, maxFollowersPerClient, maxFollowers},
		{"two peers", []string{"192.0.2.1:80", "192.0.2.2:80"}, false, maxFollowersPerClient + 2, maxFollowers + 2},
		{"behind a front", nil, true, tried, tried},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config.Config{Server: config.Server{Peers: c.peers}}
			parts := newParts(cfg, api.Guard{}, &net.TCPAddr{}, &dao.Redis{}, nil, "", c.behindFront)
			for address, want := range map[string]int{"198.51.100.1:%d": c.alone, "198.51.100.%d:80": c.all} {
				following, follow := 0, func() {}
				parts.shop = &api.API{}
				parts.events = func(http.ResponseWriter, *http.Request) error { // another comes while this one follows
					if following++; following < tried {
						follow()
					}
					return nil
				}
				mux := route.Mux(parts.routes()...)
				follow = func() {
					request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/events", http.NoBody)
					request.RemoteAddr = fmt.Sprintf(address, following)
					mux.ServeHTTP(httptest.NewRecorder(), request)
				}
				if follow(); following != want {
					t.Errorf("from %s: %d follow; want %d", address, following, want)
				}
			}
			for _, end := range parts.closers() {
				end()
			}
		})
	}
}
