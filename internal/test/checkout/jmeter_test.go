package checkout

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"lockstep/internal/test/suite"
)

// The plan tells apart what sold nothing from what may have sold, and does not take a PASS from a server that hardly answered. Buyers who
// are told that all is sold out were answered. What the plan has to say is seen with mvn -q, too.
func TestJMeterPlanJudgesAnswers(t *testing.T) {
	suite.Needs(t, "mvn")
	if os.Getenv("CI") == "" {
		t.Skip("mvn would download JMeter; this is run in CI")
	}
	for _, c := range []struct {
		name, state string
		answer      func(w http.ResponseWriter, buyer int64)
		fails       bool
		says        string
	}{
		{"the unknown", `"initial":100,"remaining":4,"sold":96`, func(w http.ResponseWriter, buyer int64) {
			switch buyer {
			case 97:
				http.Error(w, `{"error":{"code":"lock_timeout","message":"…"}}`, http.StatusServiceUnavailable)
			case 98:
				http.Error(w, `{"error":{"code":"outcome_unknown","message":"…"}}`, http.StatusServiceUnavailable)
			case 99:
				http.Error(w, "<html>", http.StatusBadGateway)
			case 100: // no answer
				if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
					_ = conn.Close()
				}
			}
		}, true, "verdict UNKNOWN: lock v4, 100 in stock at first, 4 left, 96 sold, 0 updates lost; " +
			"buyers: 96 sold, 0 sold out, 1 failed, 3 unknown; too few were answered for a PASS\n"},
		{"sold out", `"initial":60,"remaining":0,"sold":60`, func(w http.ResponseWriter, buyer int64) {
			if buyer > 60 {
				http.Error(w, `{"error":{"code":"sold_out","message":"…"}}`, http.StatusConflict)
			}
		}, false, "buyers: 60 sold, 40 sold out, 0 failed, 0 unknown\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var buyers atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost {
					fmt.Fprintf(w, `{"verdict":"PASS","lock":"v4",%s,"lost":0,"oversold":0}`, c.state)
					return
				}
				c.answer(w, buyers.Add(1))
			}))
			defer server.Close()
			_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
			output, err := exec.CommandContext(t.Context(), "mvn", "-B", "-q", "-f", "jmeter", "verify",
				"-Dport="+port, "-Dlock=v4", "-Dbuyers=100").CombinedOutput()
			said := string(output)
			if c.fails != (err != nil) || !strings.Contains(said, c.says) || strings.Count(said, "\n") > 40 {
				t.Errorf("%v; want it to fail: %t, and to say %s in 40 lines\n%s", err, c.fails, c.says, said)
			}
		})
	}
}
