package soak

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestLookUp(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers := map[string]struct {
			status int
			body   string
		}{
			"/orders/there":     {200, `{"id":"there"}`},
			"/orders/none":      {404, `{"error":{"code":"no_order"}}`},
			"/orders/in-flight": {404, `{"error":{"code":"order_in_flight"}}`},
			"/orders/broken":    {502, `<html>`},
		}
		w.WriteHeader(answers[r.URL.Path].status)
		_, _ = w.Write([]byte(answers[r.URL.Path].body))
	}))
	defer server.Close()
	w := &testbed{url: server.URL, http: server.Client()}
	for _, want := range []Doubt{
		{OrderID: "there", Found: true}, {OrderID: "none"}, {OrderID: "in-flight", Error: "GET /orders/in-flight: 404 order_in_flight"},
		{OrderID: "broken", Error: "502, and not JSON"},
	} {
		got := w.lookUpOrder(t.Context(), want.OrderID)
		same := got.OrderID == want.OrderID && got.Found == want.Found && (got.Error == "") == (want.Error == "")
		if !same || !strings.HasPrefix(got.Error, want.Error) {
			t.Errorf("%+v; want %+v", got, want)
		}
	}
}
