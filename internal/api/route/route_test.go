package route

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lockstep/internal/lock"
)

// A row answers with its handler's value or error. A row without a handler answers 404 with a reason.
func TestMuxAnswersWithValueOrError(t *testing.T) {
	row := func(method, pattern string) Row {
		return On(method, pattern, Reader, Replica, Value(func(r *http.Request) (string, error) {
			return method + " " + pattern + " " + r.PathValue("id"), nil
		}))
	}
	refuse := func(http.ResponseWriter, *http.Request) error { return lock.WithCode("sold_out", "refused") }
	mux := Mux(row("GET", "/"), row("GET", "/a"), row("PUT", "/a"), row("GET", "/a/{id}"), row("POST", "/a/b"),
		On("GET", "/refused", Reader, Replica, refuse), On("GET", "/absent", Reader, Front, nil))
	for request, want := range map[string]struct {
		status int
		says   string
	}{
		"GET /": {200, `"GET / "`}, "HEAD /a": {200, `"GET /a "`}, "PUT /a": {200, `"PUT /a "`}, "GET /a/7": {200, `"GET /a/{id} 7"`},
		"POST /a/b": {200, `"POST /a/b "`}, "DELETE /a": {405, ""}, "GET /nowhere": {404, ""},
		"GET /refused": {409, `"message":"refused"`}, "GET /absent": {404, "this server does not offer that"},
	} {
		t.Run(request, func(t *testing.T) {
			method, path, _ := strings.Cut(request, " ")
			answer := httptest.NewRecorder()
			mux.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
			if answer.Code != want.status || !strings.Contains(answer.Body.String(), want.says) {
				t.Errorf("got %d: %s; want %+v", answer.Code, answer.Body, want)
			}
		})
	}
}
