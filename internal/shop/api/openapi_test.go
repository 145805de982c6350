package api

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/lock/evolution"
	"lockstep/internal/service/history"
	"lockstep/internal/shop/answer"
	"lockstep/internal/shop/route"
)

// The document's bounds are those of the code.
func TestTheDocumentHasTheBounds(t *testing.T) {
	type schema struct {
		Minimum, Maximum *int64
		Enum             []string
		Properties       map[string]schema
	}
	var doc struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct{ Schema schema }
			}
		}
	}
	if err := json.Unmarshal(OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	put := func(path string) map[string]schema {
		return doc.Paths[path]["put"].RequestBody.Content["application/json"].Schema.Properties
	}
	for _, c := range []struct {
		name        string
		said        schema
		least, most int64
	}{
		{"stock", put("/inventory")["stock"], 0, history.MaxStock},
		{"ttl_ms", put("/settings")["ttl_ms"], leastTTL, mostTTL},
		{"think_ms", put("/settings")["think_ms"], 0, mostThink},
		{"nested", put("/settings")["nested"], 0, mostNested},
	} {
		if c.said.Minimum == nil || c.said.Maximum == nil || *c.said.Minimum != c.least || *c.said.Maximum != c.most {
			t.Errorf("%s: %+v; want %d to %d", c.name, c.said, c.least, c.most)
		}
	}
	if said := put("/lock")["version"].Enum; !slices.Equal(said, evolution.Names()) {
		t.Errorf("version: %v; want %v", said, evolution.Names())
	}
}

// A request that gin and the table do not take for the same is answered by nobody; Allow has the methods of a path by its own name.
func TestTheTableIsRegistered(t *testing.T) {
	var got string
	rows := (&API{Metrics: counted{}}).Routes()
	for _, path := range []string{"/", "/room/{lesson}", "/room/board", "/web/{file...}", "/bursts/{id}"} {
		rows = append(rows, route.On("GET", path, route.Reader, route.Replica, func(_ http.ResponseWriter, r *http.Request) error {
			got = path + " " + r.PathValue("lesson") + r.PathValue("file") + r.PathValue("id")
			return nil
		}))
	}
	rows = append(rows, route.On("POST", "/room/answer", route.Participant, route.Replica, nil))
	a := API{Log: slog.New(slog.DiscardHandler), Guard: Guard{Open: true, Routes: route.NewTable(rows...)}}
	handler := a.Handler()
	for request, want := range map[string]struct {
		status     int
		got, allow string
	}{
		"GET /": {200, "/ ", ""}, "GET /room/3": {200, "/room/{lesson} 3", ""}, "HEAD /room/board": {200, "/room/board ", ""},
		"GET /web/a/b.js": {200, "/web/{file...} a/b.js", ""}, "GET /bursts/7": {200, "/bursts/{id} 7", ""},
		"GET /room//3": {404, "", ""}, "GET /room/3/": {404, "", ""}, "GET /nothing": {404, "", ""}, "GET /bursts/a%2Fb": {404, "", ""},
		"POST /room/answer": {404, "", ""}, // absent
		"GET /room/answer":  {405, "", "POST"}, "DELETE /room/answer": {405, "", "POST"}, "PATCH /room/3": {405, "", "GET"},
		"POST /lock": {405, "", "DELETE, GET, PUT"}, "DELETE /healthz": {405, "", "GET"},
		"HEAD /nothing": {404, "", ""}, "HEAD /inventory/sale": {405, "", "POST"}, "POST /inventory/sale/": {404, "", ""},
		"POST //inventory//sale": {404, "", ""}, "GET //": {404, "", ""}, "GET /./lock": {404, "", ""}, "GET /lock/../room/3": {404, "", ""},
	} {
		method, path, _ := strings.Cut(request, " ")
		got = ""
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
		if allow := answer.Header().Get("Allow"); answer.Code != want.status || got != want.got || allow != want.allow {
			t.Errorf("%s: %d by %q, Allow %q; want %+v", request, answer.Code, got, allow, want)
		}
	}
}

// A language that is none of ours is refused, by all that have one.
func TestLanguage(t *testing.T) {
	for query, want := range map[string]string{"": "en", "?lang=": "en", "?lang=zh": "zh", "?lang=AAA": "", "?lang=EN": ""} {
		in, err := Language(httptest.NewRequestWithContext(t.Context(), "GET", "/course"+query, http.NoBody))
		status, _ := answer.StatusOf(err)
		if string(in) != want || (err != nil) != (want == "") || err != nil && status != http.StatusBadRequest {
			t.Errorf("%q: %q, %v; want %q", query, in, err, want)
		}
	}
}

// counted is a Metrics that counts nothing.
type counted struct{ http.Handler }

func (counted) Answered(string) {}
