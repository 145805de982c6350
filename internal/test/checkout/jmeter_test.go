package checkout

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"lockstep/internal/test/suite"
)

// The plan tells apart what sold nothing from what may have sold, and does not take a PASS from a server that hardly answered. What it
// has to say is seen with mvn -q, too.
func TestJMeterCountsTheUnknownApart(t *testing.T) {
	suite.Needs(t, "mvn")
	output, err := runPlan(t, `{"verdict":"PASS","lock":"v4","initial":100,"remaining":4,"sold":96,"lost":0,"oversold":0}`,
		func(w http.ResponseWriter, buyer int64) {
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
		})
	says := "verdict UNKNOWN: lock v4, 100 in stock at first, 4 left, 96 sold, 0 updates lost; " +
		"buyers: 96 sold, 0 sold out, 1 failed, 3 unknown; too few were answered for a PASS\n"
	if err == nil || !strings.Contains(output, says) {
		t.Errorf("%v; want it to fail, and to say %s\n%s", err, says, output)
	}
	if lines := strings.Count(output, "\n"); lines > 40 {
		t.Errorf("%d lines", lines)
	}
}

// More buyers than pieces are no failure: who is told that all is sold out was answered.
func TestJMeterTakesSoldOutForAnAnswer(t *testing.T) {
	suite.Needs(t, "mvn")
	output, err := runPlan(t, `{"verdict":"PASS","lock":"v4","initial":60,"remaining":0,"sold":60,"lost":0,"oversold":0}`,
		func(w http.ResponseWriter, buyer int64) {
			if buyer > 60 {
				http.Error(w, `{"error":{"code":"sold_out","message":"…"}}`, http.StatusConflict)
			}
		})
	says := "buyers: 60 sold, 40 sold out, 0 failed, 0 unknown\n"
	if err != nil || !strings.Contains(output, says) {
		t.Errorf("%v; want it to pass, and to say %s\n%s", err, says, output)
	}
}

// runPlan lets a hundred buyers buy by the plan. The run's state is given, and what each of them is answered.
func runPlan(t *testing.T, state string, sell func(w http.ResponseWriter, buyer int64)) (output string, err error) {
	t.Helper()
	if os.Getenv("CI") == "" {
		t.Skip("mvn would download JMeter; this is run in CI")
	}
	var buyers atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			fmt.Fprint(w, state)
			return
		}
		sell(w, buyers.Add(1))
	}))
	defer server.Close()
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), "mvn", "-B", "-q", "-f", "jmeter", "verify",
		"-Dport="+target.Port(), "-Dlock=v4", "-Dbuyers=100").CombinedOutput()
	return string(said), err
}
