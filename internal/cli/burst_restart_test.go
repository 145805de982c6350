package cli

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"lockstep/internal/test/redistest"
	"lockstep/internal/test/shoptest"
)

// Redis ends while a burst is on, or after it, and comes back empty, or never. The burst gives its figures in each case.
func TestBurstWhileRedisRestarts(t *testing.T) {
	t.Parallel()
	const buyers = 40
	for _, c := range []struct {
		what     string
		during   bool // the sales; otherwise after them
		back     bool
		has, not []string
	}{
		{"during", true, true, []string{"40 in", "buyers were told that they bought", "\nlost ", "not known", "UNKNOWN: "},
			[]string{"nothing"}},
		{"after", false, true, []string{"40 in", "40 sold", "0 in the ledger, but 40 buyers were told", "\nlost ", "not known",
			"UNKNOWN: 40 buyers were told"}, []string{"nothing"}},
		{"for good", false, false, []string{"40 in", "40 sold", "\nlost ", "not known",
			"UNKNOWN: the ledger could not be read: the server refused GET "},
			[]string{"nothing", "orders", "stock  "}},
	} {
		t.Run(c.what, func(t *testing.T) {
			redis := redistest.Start(t)
			shop := shoptest.Start(t, "--redis.addrs", redis.Addr, "--lock.version", "v4", "--admin.open") // a proxy is between
			address, err := url.Parse(shop.URL())
			if err != nil {
				t.Fatal(err)
			}
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			var sales, reads atomic.Int64
			forward := httputil.NewSingleHostReverseProxy(address)
			between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch sale, read := r.Method == http.MethodPost, r.Method == http.MethodGet && r.URL.Path == "/inventory"; {
				case sale && c.during && sales.Add(1) == buyers/2:
					redis.Stop()
					redis.Run()
				case read && !c.during && reads.Add(1) == 1:
					redis.Stop()
				case read && !c.during && reads.Load() == 2 && c.back:
					redis.Run()
				case read && reads.Load() == 2 && !c.back:
					interrupt() // or the burst would go on asking
					return
				}
				forward.ServeHTTP(w, r)
			}))
			defer between.Close()
			var stdout, stderr bytes.Buffer
			code := Run(ctx, strings.Fields("burst --lang en -n 40 -c 8 --min-answered 0 --target "+between.URL), &stdout, &stderr)
			if code != exitTrouble {
				t.Errorf("exit code %d; want 2: %s", code, &stderr)
			}
			inOrder(t, stdout.String(), c.has...)
			for _, word := range c.not {
				if strings.Contains(stdout.String(), word) {
					t.Errorf("it says %q:\n%s", word, &stdout)
				}
			}
		})
	}
}
