package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"lockstep/internal/server"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
	"lockstep/internal/verdict"
)

// nginx runs with the configuration of the containers, in front of three servers of this process.
func TestServersBehindNginx(t *testing.T) {
	needsNginx(t)
	t.Parallel()
	const think = "--sale.think_time=2ms" // long enough that few buyers overlap
	first := shoptest.Start(t, "--server.replica", "shop1", think, "--admin.open")
	shops := []string{first.Addr}
	for _, name := range []string{"shop2", "shop3"} {
		shops = append(shops, shoptest.Start(t, "--redis.addrs", first.Own.Redis.Addr, "--server.replica", name, think, "--admin.open").Addr)
	}
	front := startNginx(t, shops...)
	for lock, want := range map[string]int{"v4": 0, "local": 1} {
		code, stdout, stderr := runBurst(t, front.URL(), lock)
		if code != want {
			t.Errorf("%s: exit code %d; want %d: %s%s", lock, code, want, stdout, stderr)
		}
		run := front.Report()
		lines, err := first.Outside.HVals(t.Context(), "{inventory}:ledger:"+run.RunID).Result()
		if err != nil {
			t.Fatal(err)
		}
		for _, shop := range []string{"shop1", "shop2", "shop3"} {
			if !strings.Contains(strings.Join(lines, ""), `"replica":"`+shop+`"`) {
				t.Errorf("%s: %s sold nothing", lock, shop)
			}
		}
	}
	if run := front.Report(); run.Verdict == verdict.Untested || run.Sold != 60 {
		t.Errorf("%+v; want each of 60 sales once", run)
	}
	if status, text := front.Send("PUT", "//lock", `{"version":"v4"}`); status != 404 {
		t.Errorf("PUT //lock: %d %s; want 404, as of a shop", status, text)
	}
}

// Of three servers one is not reachable, and one takes requests without answering. The third sells, and only the requests that the silent
// one holds are answered 502. They are not sent again.
func TestNginxBypassesFailedServers(t *testing.T) {
	t.Parallel()
	needsNginx(t)
	shop := shoptest.Start(t, "--sale.think_time", "300ms", "--admin.open") // long enough that buyers overlap
	var held atomic.Int64
	release := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		held.Add(1)
		<-release
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(silent.Close)
	front := startNginx(t, shoptest.UnusedAddr(t), silent.Listener.Addr().String(), shop.Addr)
	const buyers = 20
	answered := make(chan int, buyers)
	for range buyers {
		go func() { status, _ := front.Send("POST", "/inventory/sale", ""); answered <- status }()
	}
	suite.Eventually(t, "whoever is not held is answered", func() bool {
		return held.Load() > 0 && len(answered)+int(held.Load()) == buyers
	})
	for range 50 {
		if status, text := front.Send("GET", "/readyz", ""); status != 200 {
			t.Errorf("%d %s; want 200", status, text)
		}
	}
	close(release)
	lost := int(held.Load())
	statuses := map[int]int{}
	for range buyers {
		statuses[<-answered]++
	}
	if statuses[502] != lost || statuses[200] != buyers-lost {
		t.Errorf("of %d buyers, %d of whom the silent shop held, so many were answered each status: %v", buyers, lost, statuses)
	}
	if sold := shop.Report().Sold; sold != int64(statuses[200]) {
		t.Errorf("%d sales; want %d: what was sent was sent again", sold, statuses[200])
	}
}

// If servers close the connection, a sale or a change reaches one of them, once.
func TestNginxSendsChangesOnce(t *testing.T) {
	needsNginx(t)
	var got atomic.Int64
	var shops []string
	for range 3 {
		shop := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			got.Add(1)
			panic(http.ErrAbortHandler)
		}))
		t.Cleanup(shop.Close)
		shops = append(shops, shop.Listener.Addr().String())
	}
	front := startNginx(t, shops...)
	for _, request := range []string{"POST /inventory/sale", "PUT /inventory", "DELETE /lock"} {
		got.Store(0)
		method, path, _ := strings.Cut(request, " ")
		if status, text := front.Send(method, path, `{"stock":7}`); status != 502 || got.Load() != 1 {
			t.Errorf("%s: %d %s, and shops got it %d times; want 502 and once", request, status, text, got.Load())
		}
	}
}

func runBurst(t *testing.T, target, lock string) (int, string, string) {
	t.Helper()
	return command(t, "burst", "--target", target, "-n", "60", "-c", "60", "--lock", lock)
}

// The comments of the Dockerfile and of the nginx configuration are true.
func TestDeploymentFilesAreConsistent(t *testing.T) {
	for file, wants := range map[string][]string{
		"../../Dockerfile":        {`CGO_ENABLED=0`, `FROM scratch`, `USER 65532`, `"/lockstep", "health"`},
		"../../deploy/nginx.conf": {`proxy_next_upstream error timeout;`, `proxy_connect_timeout 200ms;`},
		"../../deploy/shops.conf": {
			`least_conn;`, `max_fails=2 fail_timeout=5s;`, fmt.Sprintf(`keepalive_timeout %.0fs;`, (server.DrainTime / 2).Seconds()),
		},
		"../../deploy/site.conf": {`proxy_next_upstream off;`},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s does not say %s", file, want)
			}
		}
	}
}
