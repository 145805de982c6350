package soak

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/internal/api"
)

func TestRequestRecordsAnswer(t *testing.T) {
	answered := func(status int, code, id, run string) Sale {
		return Sale{Status: status, Code: code, OrderID: id, RunID: run, Replica: "r1"}
	}
	answers := map[string]struct {
		status      int // 0: none; -1: the connection is cut
		body        string
		want        Sale
		wantOutcome outcome
	}{
		"sold": {status: 200, body: `{"order_id":"a","run_id":"r"}`, want: answered(200, "", "a", "r"), wantOutcome: outcomeMade},
		"refused": {
			status: 503, body: `{"error":{"code":"lock_lost","message":"…","order_id":"b"}}`, want: answered(503, "lock_lost", "b", ""),
			wantOutcome: outcomeNotMade,
		},
		"run over": {
			status: 503, body: `{"error":{"code":"run_over","order_id":"c"}}`, want: answered(503, "run_over", "c", ""), wantOutcome: outcomeNotMade,
		},
		"without id": {status: 409, body: `{"error":{"code":"sold_out"}}`, want: answered(409, "sold_out", "", ""), wantOutcome: outcomeNotMade},
		"in doubt": {
			status: 503, body: `{"error":{"code":"outcome_unknown","order_id":"d"}}`, want: answered(503, "outcome_unknown", "d", ""),
			wantOutcome: outcomeUnknown,
		},
		"gateway": {
			status: 502, body: `{"error":{"code":"bad_gateway"}}`, want: answered(502, "bad_gateway", "", ""), wantOutcome: outcomeUnknown,
		},
		"nobody there": {
			status: 503, body: `{"error":{"code":"no_replica"}}`, want: answered(503, "no_replica", "", ""), wantOutcome: outcomeNotSent,
		},
		"a bug": {
			status: 500, body: `{"error":{"code":"internal","order_id":"e"}}`, want: answered(500, "internal", "e", ""), wantOutcome: outcomeUnknown,
		},
		"not ours": {
			status: 200, body: `<html>`, want: Sale{Code: `invalid answer: status 200, and the body is not a JSON object: "<html>"`},
			wantOutcome: outcomeUnknown,
		},
		"too late": {want: Sale{Code: "no answer in time"}, wantOutcome: outcomeUnknown},
		"cut": {
			status: -1, want: Sale{Code: "no answer: the server closed the connection before its answer was complete"}, wantOutcome: outcomeUnknown,
		},
	}
	for name, test := range answers {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost || r.URL.Path != "/inventory/sale" {
					t.Errorf("%s %s", r.Method, r.URL.Path)
				}
				switch test.status {
				case 0:
					<-r.Context().Done()
				case -1:
					panic(http.ErrAbortHandler)
				default:
					w.Header().Set("X-Lockstep-Replica", "r1")
					w.WriteHeader(test.status)
					_, _ = w.Write([]byte(test.body))
				}
			}))
			defer server.Close()
			timeout := 10 * time.Second
			if test.status == 0 {
				timeout = 20 * time.Millisecond
			}
			client := &http.Client{Timeout: timeout}
			defer client.CloseIdleConnections()
			load := loadGenerator{URL: server.URL}
			got := load.request(t.Context(), client, 0, "")
			if got.Start.IsZero() || got.End.Before(got.Start) {
				t.Errorf("got a sale from %v to %v, want its end after its start", got.Start, got.End)
			}
			got.Start, got.End = time.Time{}, time.Time{}
			if got != test.want || got.outcome() != test.wantOutcome {
				t.Errorf("got %+v with outcome %d, want %+v with outcome %d", got, got.outcome(), test.want, test.wantOutcome)
			}
		})
	}
}

// A refused buyer pauses. After the end of the session pending requests are still answered, and all sales are returned.
func TestBuyersStopAfterTheirLastAnswer(t *testing.T) {
	open, stopBuying := context.WithCancel(t.Context())
	defer stopBuying()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch n := requests.Add(1); {
		case n <= 3:
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"error":{"code":"lock_timeout"}}`))
		case n == 6: // all buyers have sent their second requests
			stopBuying()
			fallthrough
		default:
			<-open.Done()
			_, _ = fmt.Fprintf(w, `{"order_id":"%d","run_id":"b","stock_before":7,"stock_after":6,"fence":3}`, n)
		}
	}))
	defer server.Close()
	load := loadGenerator{URL: server.URL, Buyers: 3, Timeout: 10 * time.Second, Pause: 30 * time.Millisecond}
	began := time.Now()
	sales := load.Run(t.Context(), open)
	sold := newTimeline(Record{Sales: sales}).saleTimes
	if len(sales) != 6 || len(sold) != 3 || load.Sold() != 3 || time.Since(began) < 30*time.Millisecond {
		t.Errorf("got %d requests, %d sales after %v, want 6, 3 after the pause: %+v", len(sales), len(sold), time.Since(began), sales)
	}
	for _, sale := range sales {
		if sale.isSold() && (sale.Before != 7 || sale.After != 6 || sale.Fence != 3) {
			t.Errorf("got %+v, want the stock and the token of the answer", sale)
		}
	}
}

// Leave cancels a third of the requests, and their buyers send new ones. The end of the context cancels all.
func TestLeaveCancelsEveryThirdRequest(t *testing.T) {
	var requests atomic.Int64
	received := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		received <- struct{}{}
		<-r.Context().Done()
	}))
	defer server.Close()
	ctx, end := context.WithCancel(t.Context())
	load := loadGenerator{URL: server.URL, Buyers: 6, Timeout: 10 * time.Second}
	sales := make(chan []Sale)
	go func() { sales <- load.Run(ctx, ctx) }()
	for range 6 {
		<-received
	}
	if gone := load.Leave(); gone != 2 {
		t.Errorf("%d requests were cancelled, want 2", gone)
	}
	for range 2 {
		<-received // new requests
	}
	end()
	codes := map[string]int{}
	for _, sale := range <-sales {
		codes[sale.Code]++
		if sale.outcome() != outcomeUnknown {
			t.Errorf("got %+v, want its outcome unknown", sale)
		}
	}
	if requests.Load() != 8 || codes[errLeft.Error()] != 2 || codes["no answer: context canceled"] != 6 {
		t.Errorf("got %d requests, codes %v, want 8, with 2 buyers who left and 6 cancelled", requests.Load(), codes)
	}
}

// A buyer with a key repeats a request of unknown outcome, as one sale. An order that does not belong to the key is recorded.
func TestBuyerRepeatsSaleOfUnknownOutcome(t *testing.T) {
	id := api.OrderOfKey("key")
	sold := fmt.Sprintf(`{"order_id":%q,"run_id":"r"}`, id)
	const unknown, refusal, bug = `{"error":{"code":"outcome_unknown"}}`, `{"error":{"code":"lock_timeout"}}`, `{"error":{"code":"internal"}}`
	for name, test := range map[string]struct {
		answers []string // successive answers; the last one is repeated, and an empty one closes the connection
		timeout time.Duration
		want    Sale
	}{
		"sold at once":    {answers: []string{sold}, timeout: time.Minute, want: Sale{Status: 200, OrderID: id, RunID: "r"}},
		"refused at once": {answers: []string{refusal}, timeout: time.Minute, want: Sale{Status: 503, Code: "lock_timeout", OrderID: id}},
		"cut, and then sold": {
			answers: []string{"", unknown, refusal, sold}, timeout: time.Minute, want: Sale{Status: 200, OrderID: id, RunID: "r", Repeats: 3},
		},
		"never known": {
			answers: []string{unknown, refusal}, timeout: 50 * time.Millisecond, want: Sale{Status: 503, Code: "outcome_unknown", OrderID: id},
		},
		"a bug": {
			answers: []string{unknown, bug}, timeout: time.Minute, want: Sale{Status: 500, Code: "internal", OrderID: id, Repeats: 1},
		},
		"another order": {answers: []string{unknown, `{"order_id":"x","run_id":"r"}`}, timeout: time.Minute,
			want: Sale{Status: 200, OrderID: "x", RunID: "r", Repeats: 1, OtherOrderID: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := test.answers[min(requests, len(test.answers)-1)]
				if requests++; answer == "" {
					panic(http.ErrAbortHandler)
				}
				if key := r.Header.Get("Idempotency-Key"); key != `"key"` {
					t.Errorf("Idempotency-Key is %s, want %q", key, "key")
				}
				switch {
				case answer == bug:
					w.WriteHeader(http.StatusInternalServerError)
				case strings.Contains(answer, "error"):
					w.WriteHeader(http.StatusServiceUnavailable)
				}
				_, _ = w.Write([]byte(answer))
			}))
			defer server.Close()
			client := &http.Client{}
			defer client.CloseIdleConnections()
			load := loadGenerator{URL: server.URL, Timeout: test.timeout, Pause: time.Millisecond, NewKey: func() string { return "key" }}
			got := load.buyOne(t.Context(), client, 0)
			if name == "never known" && got.Repeats > 0 {
				got.Repeats = 0
			}
			if got.End.Before(got.Start) || (load.Sold() == 1) != got.isSold() {
				t.Errorf("got a sale from %v to %v, with %d sold, want its end after its start, and %t counted",
					got.Start, got.End, load.Sold(), got.isSold())
			}
			got.Start, got.End, test.want.HasKey = time.Time{}, time.Time{}, true
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}
