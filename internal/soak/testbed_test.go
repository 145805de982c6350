package soak

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestLookUpOrderReturnsAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers := map[string]struct {
			status int
			body   string
		}{
			"/orders/there":     {status: 200, body: `{"id":"there"}`},
			"/orders/none":      {status: 404, body: `{"error":{"code":"no_order"}}`},
			"/orders/in-flight": {status: 404, body: `{"error":{"code":"order_in_flight"}}`},
			"/orders/broken":    {status: 502, body: `<html>`},
		}
		w.WriteHeader(answers[r.URL.Path].status)
		_, _ = w.Write([]byte(answers[r.URL.Path].body))
	}))
	defer server.Close()
	bed := &testbed{url: server.URL, http: server.Client()}
	for _, want := range []OrderLookup{
		{OrderID: "there", Found: true}, {OrderID: "none"}, {OrderID: "in-flight", Error: "GET /orders/in-flight: 404 order_in_flight"},
		{OrderID: "broken", Error: "status 502, and the body is not a JSON object"},
	} {
		t.Run(want.OrderID, func(t *testing.T) {
			got := bed.lookUpOrder(t.Context(), want.OrderID)
			same := got.OrderID == want.OrderID && got.Found == want.Found && (got.Error == "") == (want.Error == "")
			if !same || !strings.HasPrefix(got.Error, want.Error) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}
