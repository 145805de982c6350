package seat_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"lockstep/internal/api"
	"lockstep/internal/seat"
)

func open(t *testing.T) *seat.Seat {
	t.Helper()
	return seat.New(seat.Usual(), seat.Errors{Status: api.StatusOf, Write: api.WriteError})
}

// query makes one of pairs.
func query(pairs ...string) string {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q.Encode()
}

// get reads a JSON document.
func get(t *testing.T, s http.Handler, path string, into any, pairs ...string) (status int) {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path+"?"+query(pairs...), nil))
	if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return w.Code
}

func BenchmarkStep(b *testing.B) {
	s := seat.New(seat.Usual(), seat.Errors{Status: api.StatusOf, Write: api.WriteError})
	for b.Loop() {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/seat/state?"+query("lock", "v2", "in", "--faults expiry=1", "do", "A:SET A:GET expiry B:SET"), nil))
		if w.Code != 200 {
			b.Fatal(w.Body)
		}
	}
}
