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

// A buyer in doubt asks again with its key until it knows; what refuses a repeat says nothing of the request before.
func TestBuyerRetriesSaleOfUnknownOutcome(t *testing.T) {
	replayed := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Idempotency-Replayed", "true")
		respond(200, saleReceipt)(w, r)
	}
	pass := history.Report{RunID: "r", Lock: "v4", Verdict: verdict.Pass, Initial: 9, Remaining: 8, Sold: 1, MaxInFlight: 2}
	for _, c := range []struct {
		what    string
		answers []http.HandlerFunc // to one key, one after the other; the last again and again
		timeout time.Duration
		want    load.Result
	}{
		{"sold at once", []http.HandlerFunc{respond(200, saleReceipt)}, time.Minute, load.Result{OK: 1}},
		{"refused at once", []http.HandlerFunc{respondError(503, "lock_timeout")}, time.Minute, load.Result{Failed: 1}},
		{"outcome unknown", []http.HandlerFunc{respondError(503, "outcome_unknown"), replayed}, time.Minute,
			load.Result{OK: 1, Retried: 1, Replayed: 1}},
		{"it had not bought", []http.HandlerFunc{respondError(502, "bad_gateway"), respond(200, saleReceipt)}, time.Minute, load.Result{OK: 1, Retried: 1}},
		{"no answer, and then sold out", []http.HandlerFunc{hangUp, hangUp, respondError(409, "sold_out")}, time.Minute,
			load.Result{SoldOut: 1, Retried: 1}},
		{"a repeat is refused", []http.HandlerFunc{breakOff, respondError(503, "lock_timeout"), respondError(503, "no_replica"), replayed}, time.Minute,
			load.Result{OK: 1, Retried: 1, Replayed: 1}},
		{"it never knows", []http.HandlerFunc{respondError(503, "outcome_unknown"), respondError(503, "redis_unavailable")}, 300 * time.Millisecond,
			load.Result{Unknown: 1, Retried: 1}},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			asked := map[string]int{} // by key
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost {
					_, _ = fmt.Fprintf(w, `{"run_id":%q,"lock":"v4","verdict":%q,"initial":9,"remaining":8,"sold":1,"max_in_flight":2}`,
						pass.RunID, pass.Verdict)
					return
				}
				mu.Lock()
				key := r.Header.Get("Idempotency-Key")
				n := asked[key]
				asked[key]++
				mu.Unlock()
				c.answers[min(n, len(c.answers)-1)](w, r)
			}))
			defer server.Close()
			var keys atomic.Int64
			got, err := load.Burst{
				Targets: []string{server.URL}, Requests: 3, Buyers: 2, Stock: 9, Timeout: c.timeout, Progress: func(int) {},
				NewKey: func() string { return fmt.Sprint("key-", keys.Add(1)) },
			}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			counts := [5]int{got.OK, got.SoldOut, got.Failed, got.Unknown, got.Retried}
			if want := [5]int{3 * c.want.OK, 3 * c.want.SoldOut, 3 * c.want.Failed, 3 * c.want.Unknown, 3 * c.want.Retried}; counts != want ||
				got.Replayed != 3*c.want.Replayed || got.Requests != 3 || len(asked) != 3 || asked[`"key-1"`] == 0 {
				t.Errorf("%+v, and was asked %v; want %+v of three", got, asked, c.want)
			}
		})
	}
}
