//go:build unix

package cli

import (
	"encoding/json"
	"testing"

	"lockstep/internal/shop/load"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/test/redistest"
	"lockstep/internal/test/shoptest"
)

// With --retry a burst has no unknown: a buyer in doubt asks again, and is told of what it has bought. Without, it does not ask.
func TestBurstRetries(t *testing.T) {
	t.Parallel()
	proxy, err := redisproxy.Open(redistest.Start(t).Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	s := shoptest.Start(t, "--redis.addrs", proxy.Addr(), "--lock.version", "v4", "--lock.ttl", "1s", "--sale.think_time", "1ms")
	for _, flags := range [][]string{{}, {"--retry"}} {
		lost := []*redisproxy.Trap{
			proxy.Catch(redisproxy.After(3, redisproxy.IsWrite), redisproxy.LoseReply),
			proxy.Catch(redisproxy.After(6, redisproxy.IsWrite), redisproxy.LoseRequest),
		}
		code, stdout, stderr := command(t, append([]string{"burst", "--target", s.URL(), "-n", "20", "-c", "5", "--json"}, flags...)...)
		var got load.Result
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || !lost[0].IsCaught() || !lost[1].IsCaught() {
			t.Fatalf("%v: exit code %d, %s%s: %v", flags, code, stdout, stderr, err)
		}
		want := load.Result{OK: 18, Unknown: 2}
		if len(flags) > 0 {
			want = load.Result{OK: 20, Retried: 2, Replayed: 1}
		}
		if got.OK != want.OK || got.Unknown != want.Unknown || got.Retried != want.Retried || got.Replayed != want.Replayed ||
			(code == 0) != (want.Unknown == 0) {
			t.Errorf("%v: exit code %d, %+v; want %+v", flags, code, got, want)
		}
	}
}
