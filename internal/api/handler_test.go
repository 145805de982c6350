package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lockstep/internal/api/route"
)

// A request goes to the most specific row, by its path as written. Allow lists the methods of the path.
func TestHandlerRoutesByLiteralPath(t *testing.T) {
	var got string
	rows := (&API{Metrics: noMetrics{}}).Routes()
	for _, path := range []string{"/", "/room/{lesson}", "/room/join", "/web/{file...}", "/bursts/{id}"} {
		rows = append(rows, route.On("GET", path, route.Reader, route.Replica, func(_ http.ResponseWriter, r *http.Request) error {
			got = path + " " + r.PathValue("lesson") + r.PathValue("file") + r.PathValue("id")
			return nil
		}))
	}
	rows = append(rows, route.On("POST", "/room/answer", route.Participant, route.Replica, nil))
	handler := NewHandler(Guard{Open: true}, rows)
	for request, want := range map[string]struct {
		status     int
		got, allow string
	}{
		"GET /": {200, "/ ", ""}, "GET /room/3": {200, "/room/{lesson} 3", ""}, "HEAD /room/join": {200, "/room/join ", ""},
		"GET /web/a/b.js": {200, "/web/{file...} a/b.js", ""}, "GET /bursts/7": {200, "/bursts/{id} 7", ""},
		"GET /room//3": {404, "", ""}, "GET /room/3/": {404, "", ""}, "GET /nothing": {404, "", ""}, "GET /bursts/a%2Fb": {404, "", ""},
		"POST /room/answer": {404, "", ""}, // a row without a handler
		"GET /room/answer":  {405, "", "POST"}, "DELETE /room/answer": {405, "", "POST"},
		"PATCH /room/3": {405, "", "GET"}, "QUERY /room/3": {405, "", "GET"},
		"POST /lock": {405, "", "DELETE, GET, PUT"}, "DELETE /healthz": {405, "", "GET"},
		"HEAD /nothing": {404, "", ""}, "HEAD /inventory/sale": {405, "", "POST"}, "POST /inventory/sale/": {404, "", ""},
		"POST //inventory//sale": {404, "", ""}, "GET //": {404, "", ""}, "GET /./lock": {404, "", ""}, "GET /lock/../room/3": {404, "", ""},
	} {
		t.Run(request, func(t *testing.T) {
			method, path, _ := strings.Cut(request, " ")
			got = ""
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
			if allow := answer.Header().Get("Allow"); answer.Code != want.status || got != want.got || allow != want.allow {
				t.Errorf("got %d by %q, Allow %q; want %+v", answer.Code, got, allow, want)
			}
		})
	}
}
