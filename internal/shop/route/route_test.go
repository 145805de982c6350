package route

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lockstep/internal/lock"
)

// A table answers each request by the row that fits best, and only by its path as it is read; what it has not, it says.
func TestTable(t *testing.T) {
	row := func(method, pattern string) Row {
		return On(method, pattern, Reader, Replica, Value(func(r *http.Request) (string, error) {
			return method + " " + pattern + " " + r.PathValue("id"), nil
		}))
	}
	refuse := func(http.ResponseWriter, *http.Request) error { return lock.WithCode("sold_out", "refused") }
	table := NewTable(row("GET", "/"), row("GET", "/a"), row("PUT", "/a"), row("GET", "/a/{id}"), row("POST", "/a/b"),
		On("GET", "/refused", Reader, Replica, refuse), On("GET", "/absent", Reader, Front, nil), On("GET", "/page/x", Reader, Page, nil))
	for request, want := range map[string]struct {
		status     int
		says, also string
	}{
		"GET /": {200, `"GET / "`, ""}, "HEAD /a": {200, `"GET /a "`, ""}, "PUT /a": {200, `"PUT /a "`, ""},
		"GET /a/7": {200, `"GET /a/{id} 7"`, ""}, "GET /%61/7": {200, `"GET /a/{id} 7"`, ""}, "POST /a/b": {200, `"POST /a/b "`, ""},
		"GET /a/b": {405, "method_not_allowed", "POST"}, "DELETE /a": {405, "method_not_allowed", "GET, PUT"},
		"GET /refused": {409, `"message":"refused"`, ""}, "GET /absent": {404, "this server has no such thing", ""},
		"GET /a/b/c": {404, "there is nothing here; try GET /", ""}, "GET /a%2Fb%2Fc": {404, "nothing", ""},
		"GET /nowhere": {404, "there is nothing here; try GET /", ""}, "GET /page/y": {404, "try GET /", ""},
		"GET /refused/x": {404, "nothing", ""}, "GET /a//7": {404, "nothing", ""}, "GET /x/../a": {404, "nothing", ""},
	} {
		method, path, _ := strings.Cut(request, " ")
		answer := httptest.NewRecorder()
		table.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
		if answer.Code != want.status || !strings.Contains(answer.Body.String(), want.says) || answer.Header().Get("Allow") != want.also {
			t.Errorf("%s: %d, Allow %q: %s; want %+v", request, answer.Code, answer.Header().Get("Allow"), answer.Body, want)
		}
	}
}

// Two rows for the same requests are a bug.
func TestTableHasARowOnce(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("there are two")
		}
	}()
	NewTable(On("GET", "/a", Reader, Replica, nil), On("GET", "/a", Reader, Replica, nil))
}
