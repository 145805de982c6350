package api

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"lockstep/internal/lock/evolution"
	"lockstep/internal/service/history"
	"lockstep/internal/shop/answer"
)

// operations lists what the document has, as "GET /lock".
func operations(t *testing.T) (all []string) {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]any
	}
	if err := json.Unmarshal(OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	for path, of := range doc.Paths {
		for method := range of {
			all = append(all, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(all)
	return all
}

// Each route is in the document, and each path of the document is routed. The files of the page are no interface. The seat has its own
// routes below its own; that they answer is seen in internal/cli.
func TestTheDocumentHasEveryRoute(t *testing.T) {
	nothing := http.NotFoundHandler()
	a := API{Metrics: counted{}, Events: nothing, Live: nothing, Seat: nothing, Labs: nothing, Course: nothing, NodeFaults: nothing}
	engine, is := a.routes().(*gin.Engine)
	if !is {
		t.Fatal("the routes are no gin.Engine")
	}
	parameter := regexp.MustCompile(`:(\w+)`)
	var routed []string
	for _, route := range engine.Routes() {
		if !strings.HasPrefix(route.Path, "/web/") && !strings.HasSuffix(route.Path, "/*path") &&
			(route.Method != http.MethodGet || route.Path != answerPath && route.Path != solvedPath) { // these refuse

			routed = append(routed, route.Method+" "+parameter.ReplaceAllString(route.Path, "{$1}"))
		}
	}
	slices.Sort(routed)
	documented := slices.DeleteFunc(operations(t), func(o string) bool {
		return strings.HasPrefix(o, "GET /seat/") || o == "GET /" && !slices.Contains(routed, o) // which the page brings along
	})
	if !slices.Equal(routed, documented) {
		t.Errorf("routed is\n%s\nand the document has\n%s", strings.Join(routed, "\n"), strings.Join(documented, "\n"))
	}
}

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

// Allow has the methods that a path has by its own name, and each of them is routed.
func TestAllow(t *testing.T) {
	nothing := http.NotFoundHandler()
	a := API{Metrics: counted{}, Events: nothing, Live: nothing, Seat: nothing, Labs: nothing, Course: nothing, NodeFaults: nothing,
		Log: slog.New(slog.DiscardHandler), Guard: Guard{Open: true}}
	for request, want := range map[string]string{
		"DELETE /room/answer": "POST", "GET /room/answer": "POST", "PUT /room/solved": "POST", "PATCH /room/3": "GET",
		"POST /lock": "DELETE, GET, PUT", "PUT /replicas": "GET", "DELETE /healthz": "GET",
	} {
		method, path, _ := strings.Cut(request, " ")
		answer := httptest.NewRecorder()
		a.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
		if got := answer.Header().Get("Allow"); answer.Code != http.StatusMethodNotAllowed || got != want {
			t.Errorf("%s: %d, Allow %q; want %q", request, answer.Code, got, want)
		}
	}
	answer := httptest.NewRecorder()
	(&API{Metrics: counted{}, Guard: Guard{Open: true}}).Handler().ServeHTTP(answer,
		httptest.NewRequestWithContext(t.Context(), "GET", "/replicas", http.NoBody))
	if answer.Code != http.StatusNotFound || !strings.Contains(answer.Body.String(), "lockstep cluster") {
		t.Errorf("a server without replicas: %d %s", answer.Code, answer.Body)
	}
}

// A mux behind Routed answers as the server does: in JSON, with Allow.
func TestRouted(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /room/{lesson}", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /room/answer", func(http.ResponseWriter, *http.Request) {})
	for request, want := range map[string]struct {
		status int
		allow  string
	}{
		"GET /room/3": {200, ""}, "PUT /room/3": {405, "GET, HEAD"}, "GET /room/answer": {405, "POST"}, "POST /room/answer": {200, ""},
		"GET /nothing": {404, ""},
	} {
		method, path, _ := strings.Cut(request, " ")
		answer := httptest.NewRecorder()
		Routed(mux, "/room/answer").ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
		if answer.Code != want.status || answer.Header().Get("Allow") != want.allow ||
			want.status != 200 && answer.Header().Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("%s: %d %v; want %+v", request, answer.Code, answer.Header(), want)
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
