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
		"sold":         {200, `{"order_id":"a","run_id":"r"}`, by(200, "", "a", "r"), outcomeMade},
		"refused":      {503, `{"error":{"code":"lock_lost","message":"…","order_id":"b"}}`, by(503, "lock_lost", "b", ""), outcomeNotMade},
		"run over":     {503, `{"error":{"code":"run_over","order_id":"c"}}`, by(503, "run_over", "c", ""), outcomeNotMade},
		"without id":   {409, `{"error":{"code":"sold_out"}}`, by(409, "sold_out", "", ""), outcomeNotMade},
		"in doubt":     {503, `{"error":{"code":"outcome_unknown","order_id":"d"}}`, by(503, "outcome_unknown", "d", ""), outcomeUnknown},
		"gateway":      {502, `{"error":{"code":"bad_gateway"}}`, by(502, "bad_gateway", "", ""), outcomeUnknown},
		"nobody there": {503, `{"error":{"code":"no_replica"}}`, by(503, "no_replica", "", ""), outcomeNotSent},
		"a bug":        {500, `{"error":{"code":"internal","order_id":"e"}}`, by(500, "internal", "e", ""), outcomeUnknown},
		"not ours":     {200, `<html>`, Sale{Code: `no answer: 200, and not JSON: "<html>"`}, outcomeUnknown},
		"too late":     {0, ``, Sale{Code: "no answer in time"}, outcomeUnknown},
		"cut":          {-1, ``, Sale{Code: "no answer: it closed the connection before the end of an answer"}, outcomeUnknown},
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
			crowd := loadGenerator{URL: server.URL}
			got := crowd.request(t.Context(), client, 0, "")
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

// A buyer who is refused rests; when the shop closes, those who wait are still answered, and none is forgotten.
func TestBuyersLeaveAfterTheirAnswer(t *testing.T) {
	open, shut := context.WithCancel(t.Context())
	defer shut()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch n := asked.Add(1); {
		case n <= 3:
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"error":{"code":"lock_timeout"}}`))
		case n == 6: // all of them are asking for the second time
			shut()
			fallthrough
		default:
			<-open.Done()
			_, _ = fmt.Fprintf(w, `{"order_id":"%d","run_id":"b","stock_before":7,"stock_after":6,"fence":3}`, n)
		}
	}))
	defer server.Close()
	crowd := loadGenerator{URL: server.URL, Buyers: 3, Timeout: 10 * time.Second, Pause: 30 * time.Millisecond}
	began := time.Now()
	sales := crowd.Run(t.Context(), open)
	sold := newTimeline(Record{Sales: sales}).saleTimes
	if len(sales) != 6 || len(sold) != 3 || crowd.Sold() != 3 || time.Since(began) < 30*time.Millisecond {
		t.Errorf("%d asked, %d sold, after %v; want 6, 3, after the pause: %+v", len(sales), len(sold), time.Since(began), sales)
	}
	for _, sale := range sales {
		if sale.sold() && (sale.Before != 7 || sale.After != 6 || sale.Fence != 3) {
			t.Errorf("%+v; want what the answer says", sale)
		}
	}
}

// Every third buyer who waits goes away, and comes back; the end of the context sends all home.
func TestBuyersGoAway(t *testing.T) {
	var asked atomic.Int64
	all := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		all <- struct{}{}
		<-r.Context().Done()
	}))
	defer server.Close()
	ctx, end := context.WithCancel(t.Context())
	crowd := loadGenerator{URL: server.URL, Buyers: 6, Timeout: 10 * time.Second}
	sales := make(chan []Sale)
	go func() { sales <- crowd.Run(ctx, ctx) }()
	for range 6 {
		<-all
	}
	if gone := crowd.Leave(); gone != 2 {
		t.Errorf("%d went away; want a third of 6", gone)
	}
	for range 2 {
		<-all // they are back
	}
	end()
	codes := map[string]int{}
	for _, sale := range <-sales {
		codes[sale.Code]++
		if sale.outcome() != outcomeUnknown {
			t.Errorf("%+v; want its outcome unknown", sale)
		}
	}
	if asked.Load() != 8 || codes[errLeft.Error()] != 2 || codes["no answer: context canceled"] != 6 {
		t.Errorf("%d asked, %v", asked.Load(), codes)
	}
}

// A buyer with a key repeats what it doubts until it knows, as one sale; another order than that of its key is noted.
func TestBuyersRepeatWhatTheyDoubt(t *testing.T) {
	id := api.OrderOfKey("key")
	sold := fmt.Sprintf(`{"order_id":%q,"run_id":"r"}`, id)
	const doubt, refusal, bug = `{"error":{"code":"outcome_unknown"}}`, `{"error":{"code":"lock_timeout"}}`, `{"error":{"code":"internal"}}`
	for name, c := range map[string]struct {
		answers []string // the last again and again
		timeout time.Duration
		want    Sale
	}{
		"sold at once":       {[]string{sold}, time.Minute, Sale{Status: 200, OrderID: id, RunID: "r"}},
		"refused at once":    {[]string{refusal}, time.Minute, Sale{Status: 503, Code: "lock_timeout", OrderID: id}},
		"cut, and then sold": {[]string{"", doubt, refusal, sold}, time.Minute, Sale{Status: 200, OrderID: id, RunID: "r", Repeats: 3}},
		"never known":        {[]string{doubt, refusal}, 50 * time.Millisecond, Sale{Status: 503, Code: "outcome_unknown", OrderID: id}},
		"a bug":              {[]string{doubt, bug}, time.Minute, Sale{Status: 500, Code: "internal", OrderID: id, Repeats: 1}},
		"another order": {[]string{doubt, `{"order_id":"x","run_id":"r"}`}, time.Minute,
			Sale{Status: 200, OrderID: "x", RunID: "r", Repeats: 1, OtherOrderID: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := c.answers[min(asked, len(c.answers)-1)]
				if asked++; answer == "" {
					panic(http.ErrAbortHandler)
				}
				if key := r.Header.Get("Idempotency-Key"); key != `"key"` {
					t.Errorf("asked with the key %s", key)
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
			crowd := loadGenerator{URL: server.URL, Timeout: c.timeout, Pause: time.Millisecond, NewKey: func() string { return "key" }}
			got := crowd.buyOne(t.Context(), client, 0)
			if name == "never known" && got.Repeats > 0 {
				got.Repeats = 0
			}
			if got.End.Before(got.Start) || (crowd.Sold() == 1) != got.sold() {
				t.Errorf("from %v to %v, %d sold", got.Start, got.End, crowd.Sold())
			}
			got.Start, got.End, c.want.HasKey = time.Time{}, time.Time{}, true
			if got != c.want {
				t.Errorf("%+v; want %+v", got, c.want)
			}
		})
	}
}
