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

// fakeShop answers the n-th sale by the n-th of its answers, and says of its run what it is told to.
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

// What a shop answers: a sale, and a run in which nothing has been sold.
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

// breakOff ends in the middle of an error's body.
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

// What sold nothing for certain is told apart from what may have sold.
func TestBurstTellsUnknownFromFailed(t *testing.T) {
	t.Parallel()
	const once = `{"run_id":"r","lock":"v4","verdict":"PASS","initial":100,"remaining":99,"sold":1,"max_in_flight":3}`
	s := &fakeShop{report: once, answers: []http.HandlerFunc{
		respond(200, saleReceipt), respondError(409, "sold_out"),
		respondError(503, "lock_timeout"), respondError(503, "lock_lost"), respondError(503, "no_replica"), respond(500, "oops"),
		respondError(503, "outcome_unknown"), respondError(502, "bad_gateway"), respond(504, "<html>"), hangUp, breakOff, neverRespond,
	}}
	r := runBurst(t, s, "http://"+suite.UnusedAddr(t)) // half of the requests go there: they are never sent
	if r.Requests != 24 || r.OK != 1 || r.SoldOut != 1 || r.Failed != 3+12 || r.Unknown != 7 {
		t.Errorf("%+v; want 1 sold, 1 sold out, 15 failed and 7 unknown", r)
	}
	for code, n := range map[string]int{"lock_timeout": 1, "lock_lost": 1, "no_replica": 1} {
		if r.Failures[code] != n {
			t.Errorf("%d failed by %s; want %d: %v", r.Failures[code], code, n, r.Failures)
		}
	}
	for code, n := range map[string]int{"outcome_unknown": 1, "bad_gateway": 1, "no answer within 2s": 1} {
		if r.Unknowns[code] != n {
			t.Errorf("%d unknown by %s; want %d: %v", r.Unknowns[code], code, n, r.Unknowns)
		}
	}
	if r.Verdict != verdict.Untested || r.Reason != "only 2 of 24 requests were answered (sold, or sold out), which is less than 99 %" {
		t.Errorf("%s: %s", r.Verdict, r.Reason)
	}
}

func TestJudgeNeedsAnswersAndOrders(t *testing.T) {
	pass := history.Report{Verdict: verdict.Pass, Initial: 200, Remaining: 100, Sold: 100, MaxInFlight: 9}
	lost := history.Report{Verdict: verdict.Oversold, Initial: 200, Remaining: 169, Sold: 200, Lost: 169, MaxInFlight: 9}
	for _, c := range []struct {
		what    string
		result  load.Result
		atLeast float64
		want    verdict.Verdict
		reason  string
	}{
		{"all answered", load.Result{Report: pass, Requests: 100, OK: 100, Answered: 1}, 0.99, verdict.Pass,
			"stock and orders agree, with at least 9 requests in flight at once"},
		{"just enough", load.Result{Report: pass, Requests: 100, OK: 99, Unknown: 1, Answered: 0.99}, 0.99, verdict.Pass,
			"stock and orders agree, with at least 9 requests in flight at once; but 1 of 100 requests were not answered, or not as they should be"},
		{"too few", load.Result{Report: pass, Requests: 200, OK: 100, Failed: 100, Answered: 0.5}, 0.99, verdict.Untested,
			"only 100 of 200 requests were answered (sold, or sold out), which is less than 99 %"},
		{"asked otherwise", load.Result{Report: pass, Requests: 200, OK: 100, Failed: 100, Answered: 0.5}, 0, verdict.Pass,
			"stock and orders agree, with at least 9 requests in flight at once; " +
				"but 100 of 200 requests were not answered, or not as they should be"},
		{"orders are missing", load.Result{Report: pass, Requests: 110, OK: 110, Answered: 1}, 0.99, verdict.Untested,
			"10 buyers were told that they bought, and the ledger has no orders of theirs"},
		{"all orders are missing", load.Result{Report: history.Report{
			Verdict: verdict.Untested, Initial: 200, Remaining: 200,
		}, Requests: 110, OK: 110, Answered: 1}, 0.99, verdict.Untested,
			"110 buyers were told that they bought, and the ledger has no orders of theirs"},
		{"the stock fell for orders that are missing", load.Result{Report: history.Report{
			Verdict: verdict.Undersold, Initial: 200, Remaining: 90, Sold: 100, Lost: -10, MaxInFlight: 9,
		}, Requests: 110, OK: 110, Answered: 1}, 0.99, verdict.Untested,
			"10 buyers were told that they bought, and the ledger has no orders of theirs"},
		{"orders that are missing hide no lost update", load.Result{Report: lost, Requests: 210, OK: 210, Answered: 1}, 0.99, verdict.Oversold,
			"200 sold, but the stock fell by 31 only: 169 updates were lost, and as many pieces can be sold a second time" +
				"; but 10 buyers were told that they bought, and the ledger has no orders of theirs"},
		{"what is broken stays broken", load.Result{Report: lost, Requests: 2000, OK: 200, Unknown: 1800, Answered: 0.1}, 0.99, verdict.Oversold,
			"200 sold, but the stock fell by 31 only: 169 updates were lost, and as many pieces can be sold a second time" +
				"; but 1800 of 2000 requests were not answered, or not as they should be"},
	} {
		c.result.Judge(c.atLeast)
		if c.result.Verdict != c.want || c.result.Reason != c.reason {
			t.Errorf("%s: %s: %s; want %s: %s", c.what, c.result.Verdict, c.result.Reason, c.want, c.reason)
		}
	}
}

// A ledger that cannot be read is read again; if it never can, what the buyers were told is kept, and nothing that only the ledger says is.
func TestBurstReadsLedgerAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what    string
		failing int // reads
		want    verdict.Verdict
		has     string
		hasNot  string
	}{
		{"for a moment", 2, verdict.Pass, `"sold":2`, "unread"},
		{"for ever", 1 << 30, verdict.Untested, `"unread":"the server refused GET http://`, "sold\""},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := &fakeShop{
				report:  `{"run_id":"r","lock":"v4","verdict":"PASS","initial":2,"remaining":0,"sold":2,"max_in_flight":2}`,
				answers: []http.HandlerFunc{respond(200, saleReceipt), respond(200, saleReceipt)},
			}
			var reads atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet && int(reads.Add(1)) <= c.failing {
					respondError(503, "redis_unavailable")(w, r)
					return
				}
				s.ServeHTTP(w, r)
			}))
			defer server.Close()
			patience := time.Minute
			if c.want == verdict.Untested {
				patience = time.Millisecond
			}
			r, err := load.Burst{
				Targets: []string{server.URL}, Requests: 2, Buyers: 2, Stock: 2, Timeout: time.Minute, Progress: func(int) {}, LedgerTimeout: patience,
			}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != c.want || r.OK != 2 || r.RunID != "r" || r.Initial != 2 || r.Unread == "" && reads.Load() != 3 {
				t.Errorf("%d reads, and %+v; want %s", reads.Load(), r, c.want)
			}
			has := strings.Contains(string(text), c.has) && strings.Contains(string(text), `"sold_out":0`)
			if !has || strings.Contains(string(text), c.hasNot) {
				t.Errorf("%s; want %s, and not %s", text, c.has, c.hasNot)
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
		t.Errorf("%v", err)
	}
}

// Where others buy, too, the number of orders does not tell whether those of a burst's own buyers are there: it asks for them.
func TestBurstLooksUpItsOwnOrders(t *testing.T) {
	t.Parallel()
	const busy = `{"run_id":"r","lock":"v4","verdict":"PASS","initial":100,"remaining":90,"sold":10,"max_in_flight":3}`
	for name, c := range map[string]struct {
		order   http.HandlerFunc // what is said of the third order
		verdict verdict.Verdict
		reason  string
	}{
		"all are there":      {respond(200, `{}`), verdict.Pass, ""},
		"one is gone":        {respondError(404, "no_order"), verdict.Untested, "1 buyers were told that they bought, and the ledger has no orders"},
		"one cannot be read": {respondError(503, "redis_unavailable"), verdict.Untested, "the ledger could not be read: the server refused GET "},
		"another's answer":   {respond(404, "<html>"), verdict.Untested, "the ledger could not be read: the server refused GET "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodPost:
					_, _ = w.Write([]byte(strings.Replace(saleReceipt, "o-1", fmt.Sprintf("o-%d", asked.Add(1)), 1)))
				case r.URL.Path == "/orders/o-3":
					c.order(w, r)
				case strings.HasPrefix(r.URL.Path, "/orders/"):
					_, _ = w.Write([]byte(`{}`))
				case r.Method == http.MethodPut:
					_, _ = w.Write([]byte(newRunReport))
				default:
					_, _ = w.Write([]byte(busy))
				}
			}))
			defer server.Close()
			result, err := load.Burst{
				Targets: []string{server.URL}, Requests: 5, Buyers: 2, Stock: 100, Timeout: 2 * time.Second, Progress: func(int) {},
				LedgerTimeout: time.Millisecond,
			}.Run(t.Context())
			if err != nil || result.Verdict != c.verdict || !strings.HasPrefix(result.Reason, c.reason) {
				t.Errorf("%v, %s: %q; want %s: %q", err, result.Verdict, result.Reason, c.verdict, c.reason)
			}
		})
	}
}
