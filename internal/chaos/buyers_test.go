package chaos

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Buyers write down what each kind of answer says.
func TestBuyersWriteDownWhatTheyAreTold(t *testing.T) {
	by := func(status int, code, id, run string) Sale {
		return Sale{Status: status, Code: code, OrderID: id, RunID: run, Replica: "r1"}
	}
	answers := map[string]struct {
		status int // 0: none; -1: the connection is cut
		body   string
		want   Sale
		means  outcome
	}{
		"sold":         {200, `{"order_id":"a","run_id":"r"}`, by(200, "", "a", "r"), made},
		"refused":      {503, `{"error":{"code":"lock_lost","message":"…","order_id":"b"}}`, by(503, "lock_lost", "b", ""), notMade},
		"run over":     {503, `{"error":{"code":"run_over","order_id":"c"}}`, by(503, "run_over", "c", ""), notMade},
		"without id":   {409, `{"error":{"code":"sold_out"}}`, by(409, "sold_out", "", ""), notMade},
		"in doubt":     {503, `{"error":{"code":"outcome_unknown","order_id":"d"}}`, by(503, "outcome_unknown", "d", ""), unknown},
		"gateway":      {502, `{"error":{"code":"bad_gateway"}}`, by(502, "bad_gateway", "", ""), unknown},
		"nobody there": {503, `{"error":{"code":"no_replica"}}`, by(503, "no_replica", "", ""), neverSent},
		"a bug":        {500, `{"error":{"code":"internal","order_id":"e"}}`, by(500, "internal", "e", ""), unknown},
		"not ours":     {200, `<html>`, Sale{Code: "no answer: 200, and not JSON: <html>"}, unknown},
		"too late":     {0, ``, Sale{Code: "no answer in time"}, unknown},
		"cut":          {-1, ``, Sale{Code: "no answer: EOF"}, unknown},
	}
	for name, c := range answers {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost || r.URL.Path != "/inventory/sale" {
					t.Errorf("%s %s", r.Method, r.URL.Path)
				}
				switch c.status {
				case 0:
					<-r.Context().Done()
				case -1:
					panic(http.ErrAbortHandler)
				default:
					w.Header().Set("X-Lockstep-Replica", "r1")
					w.WriteHeader(c.status)
					_, _ = w.Write([]byte(c.body))
				}
			}))
			defer server.Close()
			timeout := 10 * time.Second
			if c.status == 0 {
				timeout = 20 * time.Millisecond
			}
			client := &http.Client{Timeout: timeout}
			defer client.CloseIdleConnections()
			got := Crowd{URL: server.URL}.ask(t.Context(), client)
			if got.Start.IsZero() || got.End.Before(got.Start) {
				t.Errorf("from %v to %v", got.Start, got.End)
			}
			got.Start, got.End = time.Time{}, time.Time{}
			if got != c.want || got.outcome() != c.means {
				t.Errorf("%+v, which means %d; want %+v, %d", got, got.outcome(), c.want, c.means)
			}
		})
	}
}

// A buyer who is refused rests; when the buying ends, those who wait are still answered, and none is forgotten.
func TestBuyersLeaveAfterTheirAnswer(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch n := asked.Add(1); {
		case n <= 3:
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"error":{"code":"lock_timeout"}}`))
		case n == 6: // all of them are asking for the second time
			leave()
			<-ctx.Done()
			fallthrough
		default:
			<-ctx.Done()
			_, _ = w.Write([]byte(strings.ReplaceAll(`{"order_id":"a","run_id":"b"}`, "a", string(rune('a'+n)))))
		}
	}))
	defer server.Close()
	began := time.Now()
	sales := Crowd{URL: server.URL, Buyers: 3, Timeout: 10 * time.Second, Pause: 30 * time.Millisecond}.Buy(ctx)
	sold := paceOf(Record{Sales: sales})
	if len(sales) != 6 || len(sold) != 3 || time.Since(began) < 30*time.Millisecond {
		t.Errorf("%d asked, %d sold, after %v; want 6, 3, after the pause: %+v", len(sales), len(sold), time.Since(began), sales)
	}
}
