package load_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/internal/load"
	"lockstep/internal/service/history"
	"lockstep/internal/test/suite"
	"lockstep/internal/verdict"
)

// fakeShop is a server that answers the n-th sale with the n-th of its answers, and every other request with its report.
type fakeShop struct {
	report  string
	answers []http.HandlerFunc
	sales   atomic.Int64
}

func (s *fakeShop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		s.answers[int(s.sales.Add(1))-1](w, r)
		return
	}
	_, _ = w.Write([]byte(s.report))
}

// Answers of a server: the receipt of a sale, and the report of a run without sales.
const (
	saleReceipt  = `{"order_id":"o-1","run_id":"r","lock":"v4","replica":"r1","stock_before":2,"stock_after":1,"fence":0}`
	newRunReport = `{"run_id":"r","lock":"v4","initial":1,"remaining":1,"verdict":"UNKNOWN"}`
)

func respond(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func hangUp(w http.ResponseWriter, _ *http.Request) {
	if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// breakOff closes the connection in the middle of the body.
func breakOff(w http.ResponseWriter, _ *http.Request) {
	if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
		_, _ = conn.Write([]byte("HTTP/1.1 503 \r\nContent-Length: 99\r\n\r\n{"))
		_ = conn.Close()
	}
}

func neverRespond(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func respondError(status int, code string) http.HandlerFunc {
	return respond(status, `{"error":{"code":"`+code+`","message":"…"}}`)
}

func runBurst(t *testing.T, s *fakeShop, others ...string) load.Result {
	t.Helper()
	server := httptest.NewServer(s)
	defer server.Close()
	targets := append([]string{server.URL}, others...)
	result, err := load.Burst{
		Targets: targets, Requests: len(s.answers) * len(targets), Buyers: 3, Stock: 100,
		Timeout: 2 * time.Second, Progress: func(int) {}, MinAnswered: 0.99,
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestBurstTellsUnknownFromFailed(t *testing.T) {
	t.Parallel()
	const report = `{"run_id":"r","lock":"v4","verdict":"PASS","initial":100,"remaining":99,"sold":1,"max_in_flight":3}`
	s := &fakeShop{report: report, answers: []http.HandlerFunc{
		respond(200, saleReceipt), respondError(409, "sold_out"),
		respondError(503, "lock_timeout"), respondError(503, "lock_lost"), respondError(503, "no_replica"), respond(500, "oops"),
		respondError(503, "outcome_unknown"), respondError(502, "bad_gateway"), respond(504, "<html>"), hangUp, breakOff, neverRespond,
	}}
	r := runBurst(t, s, "http://"+suite.UnusedAddr(t)) // half of the requests go to a closed port, and are never sent
	if r.Requests != 24 || r.OK != 1 || r.SoldOut != 1 || r.Failed != 3+12 || r.Unknown != 7 {
		t.Errorf("got %+v, want 1 sold, 1 sold out, 15 failed and 7 unknown", r)
	}
	for code, n := range map[string]int{"lock_timeout": 1, "lock_lost": 1, "no_replica": 1} {
		t.Run(code, func(t *testing.T) {
			if r.Failures[code] != n {
				t.Errorf("%d failures with %s, want %d: %v", r.Failures[code], code, n, r.Failures)
			}
		})
	}
	for code, n := range map[string]int{"outcome_unknown": 1, "bad_gateway": 1, "no answer within 2s": 1} {
		t.Run(code, func(t *testing.T) {
			if r.Unknowns[code] != n {
				t.Errorf("%d unknown outcomes with %s, want %d: %v", r.Unknowns[code], code, n, r.Unknowns)
			}
		})
	}
	if r.Verdict != verdict.Untested || r.Reason != "only 2 of 24 requests were answered (sold, or sold out), which is less than 99 %" {
		t.Errorf("got %s: %s, want UNKNOWN because only 2 of 24 were answered", r.Verdict, r.Reason)
	}
}

func TestJudgeNeedsAnswersAndOrders(t *testing.T) {
	pass := history.Report{Verdict: verdict.Pass, Initial: 200, Remaining: 100, Sold: 100, MaxInFlight: 9}
	lost := history.Report{Verdict: verdict.Oversold, Initial: 200, Remaining: 169, Sold: 200, Lost: 169, MaxInFlight: 9}
	for _, test := range []struct {
		name        string
		result      load.Result
		minAnswered float64
		wantVerdict verdict.Verdict
		wantReason  string
	}{
		{
			name: "all answered", result: load.Result{Report: pass, Requests: 100, OK: 100, Answered: 1}, minAnswered: 0.99,
			wantVerdict: verdict.Pass,
			wantReason:  "stock and orders agree, with at least 9 requests in flight at once",
		},
		{
			name: "just enough", result: load.Result{Report: pass, Requests: 100, OK: 99, Unknown: 1, Answered: 0.99}, minAnswered: 0.99,
			wantVerdict: verdict.Pass,
			wantReason: "stock and orders agree, with at least 9 requests in flight at once; " +
				"but 1 of 100 requests failed, or their outcome is unknown",
		},
		{
			name: "too few", result: load.Result{Report: pass, Requests: 200, OK: 100, Failed: 100, Answered: 0.5}, minAnswered: 0.99,
			wantVerdict: verdict.Untested,
			wantReason:  "only 100 of 200 requests were answered (sold, or sold out), which is less than 99 %",
		},
		{
			name: "any share is enough", result: load.Result{Report: pass, Requests: 200, OK: 100, Failed: 100, Answered: 0.5},
			wantVerdict: verdict.Pass,
			wantReason: "stock and orders agree, with at least 9 requests in flight at once; " +
				"but 100 of 200 requests failed, or their outcome is unknown",
		},
		{
			name: "orders are missing", result: load.Result{Report: pass, Requests: 110, OK: 110, Answered: 1}, minAnswered: 0.99,
			wantVerdict: verdict.Untested,
			wantReason:  "10 orders that were confirmed to buyers are not in the ledger",
		},
		{name: "all orders are missing", result: load.Result{Report: history.Report{
			Verdict: verdict.Untested, Initial: 200, Remaining: 200,
		}, Requests: 110, OK: 110, Answered: 1}, minAnswered: 0.99, wantVerdict: verdict.Untested,
			wantReason: "110 orders that were confirmed to buyers are not in the ledger"},
		{name: "undersold and orders missing", result: load.Result{Report: history.Report{
			Verdict: verdict.Undersold, Initial: 200, Remaining: 90, Sold: 100, Lost: -10, MaxInFlight: 9,
		}, Requests: 110, OK: 110, Answered: 1}, minAnswered: 0.99, wantVerdict: verdict.Untested,
			wantReason: "10 orders that were confirmed to buyers are not in the ledger"},
		{
			name: "updates lost and orders missing", result: load.Result{Report: lost, Requests: 210, OK: 210, Answered: 1},
			minAnswered: 0.99, wantVerdict: verdict.Oversold,
			wantReason: "200 sold, but the stock fell by 31 only: 169 updates were lost, and those items can be sold twice" +
				"; but 10 orders that were confirmed to buyers are not in the ledger",
		},
		{
			name: "oversold although few were answered", result: load.Result{Report: lost, Requests: 2000, OK: 200, Unknown: 1800, Answered: 0.1},
			minAnswered: 0.99, wantVerdict: verdict.Oversold,
			wantReason: "200 sold, but the stock fell by 31 only: 169 updates were lost, and those items can be sold twice" +
				"; but 1800 of 2000 requests failed, or their outcome is unknown",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.result.Judge(test.minAnswered)
			if test.result.Verdict != test.wantVerdict || test.result.Reason != test.wantReason {
				t.Errorf("got %s: %s, want %s: %s", test.result.Verdict, test.result.Reason, test.wantVerdict, test.wantReason)
			}
		})
	}
}

// A ledger that cannot be read is read again. If it never can be, the result has the answers to the buyers, and nothing from the ledger.
func TestBurstReadsLedgerAgain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name         string
		failures     int // number of reads that fail
		wantVerdict  verdict.Verdict
		wantText     string
		unwantedText string
	}{
		{name: "unreadable at first", failures: 2, wantVerdict: verdict.Pass, wantText: `"sold":2`, unwantedText: "unread"},
		{
			name: "unreadable forever", failures: 1 << 30, wantVerdict: verdict.Untested, wantText: `"unread":"the server refused GET http://`,
			unwantedText: "sold\"",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &fakeShop{
				report:  `{"run_id":"r","lock":"v4","verdict":"PASS","initial":2,"remaining":0,"sold":2,"max_in_flight":2}`,
				answers: []http.HandlerFunc{respond(200, saleReceipt), respond(200, saleReceipt)},
			}
			var reads atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet && int(reads.Add(1)) <= test.failures {
					respondError(503, "redis_unavailable")(w, r)
					return
				}
				s.ServeHTTP(w, r)
			}))
			defer server.Close()
			timeout := time.Minute
			if test.wantVerdict == verdict.Untested {
				timeout = time.Millisecond
			}
			r, err := load.Burst{
				Targets: []string{server.URL}, Requests: 2, Buyers: 2, Stock: 2, Timeout: time.Minute, Progress: func(int) {}, LedgerTimeout: timeout,
			}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != test.wantVerdict || r.OK != 2 || r.RunID != "r" || r.Initial != 2 || r.Unread == "" && reads.Load() != 3 {
				t.Errorf("got %+v after %d reads, want %s", r, reads.Load(), test.wantVerdict)
			}
			wantText := strings.Contains(string(text), test.wantText) && strings.Contains(string(text), `"sold_out":0`)
			if !wantText || strings.Contains(string(text), test.unwantedText) {
				t.Errorf("got %s, want %s in it, and not %s", text, test.wantText, test.unwantedText)
			}
		})
	}
}

func TestBurstReturnsErrInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	s := &fakeShop{report: newRunReport, answers: []http.HandlerFunc{respond(200, saleReceipt), func(_ http.ResponseWriter, r *http.Request) {
		interrupt()
		<-r.Context().Done()
	}}}
	server := httptest.NewServer(s)
	defer server.Close()
	_, err := load.Burst{
		Targets: []string{server.URL}, Requests: 2, Buyers: 1, Stock: 1, Timeout: time.Minute, Progress: func(int) {},
	}.Run(ctx)
	if !errors.Is(err, load.ErrInterrupted) || err.Error() != "interrupted after 1 answers" {
		t.Errorf("got %v, want ErrInterrupted after 1 answer", err)
	}
}

// If others buy, too, the number of orders does not show whether those of the burst exist. So it looks them up.
func TestBurstLooksUpItsOwnOrders(t *testing.T) {
	t.Parallel()
	const report = `{"run_id":"r","lock":"v4","verdict":"PASS","initial":100,"remaining":90,"sold":10,"max_in_flight":3}`
	for name, test := range map[string]struct {
		order       http.HandlerFunc // answer about the third order
		wantVerdict verdict.Verdict
		wantReason  string
	}{
		"all exist": {order: respond(200, `{}`), wantVerdict: verdict.Pass},
		"one is missing": {
			order: respondError(404, "no_order"), wantVerdict: verdict.Untested,
			wantReason: "1 orders that were confirmed to buyers are not in the ledger",
		},
		"one cannot be read": {
			order: respondError(503, "redis_unavailable"), wantVerdict: verdict.Untested,
			wantReason: "the ledger could not be read: the server refused GET ",
		},
		"an answer of another program": {
			order: respond(404, "<html>"), wantVerdict: verdict.Untested, wantReason: "the ledger could not be read: the server refused GET ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sales atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodPost:
					_, _ = w.Write([]byte(strings.Replace(saleReceipt, "o-1", fmt.Sprintf("o-%d", sales.Add(1)), 1)))
				case r.URL.Path == "/orders/o-3":
					test.order(w, r)
				case strings.HasPrefix(r.URL.Path, "/orders/"):
					_, _ = w.Write([]byte(`{}`))
				case r.Method == http.MethodPut:
					_, _ = w.Write([]byte(newRunReport))
				default:
					_, _ = w.Write([]byte(report))
				}
			}))
			defer server.Close()
			result, err := load.Burst{
				Targets: []string{server.URL}, Requests: 5, Buyers: 2, Stock: 100, Timeout: 2 * time.Second, Progress: func(int) {},
				LedgerTimeout: time.Millisecond,
			}.Run(t.Context())
			if err != nil || result.Verdict != test.wantVerdict || !strings.HasPrefix(result.Reason, test.wantReason) {
				t.Errorf("got %v, %s: %q, want %s: %q", err, result.Verdict, result.Reason, test.wantVerdict, test.wantReason)
			}
		})
	}
}
