package load_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/internal/load"
	"lockstep/internal/service/history"
	"lockstep/internal/verdict"
)

// A buyer with a key retries a sale of unknown outcome until it knows. A refusal of a retry says nothing about the request before it.
func TestBuyerRetriesSaleOfUnknownOutcome(t *testing.T) {
	replayed := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Idempotency-Replayed", "true")
		respond(200, saleReceipt)(w, r)
	}
	pass := history.Report{RunID: "r", Lock: "v4", Verdict: verdict.Pass, Initial: 9, Remaining: 8, Sold: 1, MaxInFlight: 2}
	for _, test := range []struct {
		name    string
		answers []http.HandlerFunc // successive answers to one key; the last one is repeated
		timeout time.Duration
		want    load.Result
	}{
		{name: "sold at once", answers: []http.HandlerFunc{respond(200, saleReceipt)}, timeout: time.Minute, want: load.Result{OK: 1}},
		{
			name: "refused at once", answers: []http.HandlerFunc{respondError(503, "lock_timeout")}, timeout: time.Minute,
			want: load.Result{Failed: 1},
		},
		{
			name: "outcome unknown", answers: []http.HandlerFunc{respondError(503, "outcome_unknown"), replayed}, timeout: time.Minute,
			want: load.Result{OK: 1, Retried: 1, Replayed: 1},
		},
		{
			name: "not bought before", answers: []http.HandlerFunc{respondError(502, "bad_gateway"), respond(200, saleReceipt)},
			timeout: time.Minute, want: load.Result{OK: 1, Retried: 1},
		},
		{
			name: "no answer, and then sold out", answers: []http.HandlerFunc{hangUp, hangUp, respondError(409, "sold_out")}, timeout: time.Minute,
			want: load.Result{SoldOut: 1, Retried: 1},
		},
		{
			name: "a retry is refused", answers: []http.HandlerFunc{breakOff, respondError(503, "lock_timeout"), respondError(503, "no_replica"),
				replayed}, timeout: time.Minute,
			want: load.Result{OK: 1, Retried: 1, Replayed: 1},
		},
		{
			name: "never known", answers: []http.HandlerFunc{respondError(503, "outcome_unknown"), respondError(503, "redis_unavailable")},
			timeout: 300 * time.Millisecond,
			want:    load.Result{Unknown: 1, Retried: 1},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			requests := map[string]int{} // by key
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost {
					_, _ = fmt.Fprintf(w, `{"run_id":%q,"lock":"v4","verdict":%q,"initial":9,"remaining":8,"sold":1,"max_in_flight":2}`,
						pass.RunID, pass.Verdict)
					return
				}
				mu.Lock()
				key := r.Header.Get("Idempotency-Key")
				n := requests[key]
				requests[key]++
				mu.Unlock()
				test.answers[min(n, len(test.answers)-1)](w, r)
			}))
			defer server.Close()
			var keys atomic.Int64
			got, err := load.Burst{
				Targets: []string{server.URL}, Requests: 3, Buyers: 2, Stock: 9, Timeout: test.timeout, Progress: func(int) {},
				NewKey: func() string { return fmt.Sprint("key-", keys.Add(1)) },
			}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			counts := [5]int{got.OK, got.SoldOut, got.Failed, got.Unknown, got.Retried}
			if want := [5]int{3 * test.want.OK, 3 * test.want.SoldOut, 3 * test.want.Failed, 3 * test.want.Unknown,
				3 * test.want.Retried}; counts != want ||
				got.Replayed != 3*test.want.Replayed || got.Requests != 3 || len(requests) != 3 || requests[`"key-1"`] == 0 {
				t.Errorf("got %+v after requests %v, want %+v three times", got, requests, test.want)
			}
		})
	}
}
