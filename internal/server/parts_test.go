package server

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/docs"
	"lockstep/internal/api"
	"lockstep/internal/api/route"
	"lockstep/internal/classroom"
	"lockstep/internal/cluster"
	"lockstep/internal/explore/seat"
	"lockstep/internal/lab"
	"lockstep/internal/live"
	"lockstep/internal/web"
)

// every returns the routes of a front with all its parts.
func every(front *cluster.Front, nodes *live.Nodes) []route.Row {
	return parts{
		shop: &api.API{}, events: front.ServeEvents, front: front, shown: &live.Server{}, nodes: nodes,
		teachingParts: teachingParts{
			seat: seat.New(seat.Limits{}, nil), class: classroom.New(docs.Course()),
			labs: &lab.Runner{Environment: lab.TabEnvironment(func() lab.Replicas { return nil }, "")},
		},
	}.routes()
}

// The OpenAPI document has every route, the table of routes has every path of the document, and the document marks the routes that only a
// front serves. Of the page's files, only the page itself counts as a route.
func TestOpenAPIDocumentHasEveryRoute(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]struct {
			ServedBy string `json:"x-served-by"`
		}
	}
	if err := json.Unmarshal(api.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	var routed, documented []string
	alone := map[string]bool{} // what a server without a front does not have
	for _, row := range every(nil, &live.Nodes{}) {
		alone[row.Method+" "+row.Pattern] = row.Handle == nil
	}
	for _, row := range every(&cluster.Front{}, &live.Nodes{}) {
		if row.Responder == route.Page && row.Pattern != "/" {
			continue
		}
		name := row.Method + " " + row.Pattern
		if alone[name] {
			name += " front"
		}
		routed = append(routed, name)
	}
	for path, operations := range doc.Paths {
		for method, operation := range operations {
			documented = append(documented, strings.TrimSpace(strings.ToUpper(method)+" "+path+" "+operation.ServedBy))
		}
	}
	slices.Sort(routed)
	slices.Sort(documented)
	if !slices.Equal(routed, documented) {
		t.Errorf("routed is\n%s\nand the document has\n%s", strings.Join(routed, "\n"), strings.Join(documented, "\n"))
	}
}

// Routes that change something need an administrator, except those for buying and for taking part in the room. Those, the event streams and
// the seat need a participant, because they cost the server work, and a page of another site must not cause it.
func TestRoutesThatChangeNeedAnAdministrator(t *testing.T) {
	participants := map[string]bool{
		"POST /inventory/sale": true, "POST /room/join": true, "DELETE /room/join": true, "POST /room/answer": true,
		"GET /events": true, "GET /live": true, "GET /live/pair": true,
	}
	for _, row := range every(nil, nil) {
		name, want := row.Method+" "+row.Pattern, route.Reader
		switch {
		case participants[name], strings.HasPrefix(row.Pattern, "/seat/"):
			want = route.Participant
		case row.Method != http.MethodGet, row.Pattern == "/room/participants":
			want = route.Administrator
		}
		if row.Access != want {
			t.Errorf("%s is for %d; want %d", name, row.Access, want)
		}
	}
}

// A front answers requests that concern all replicas itself, and forwards all others.
func TestFrontAnswersForAllReplicas(t *testing.T) {
	for _, row := range every(&cluster.Front{}, nil) {
		first, _, _ := strings.Cut(strings.TrimPrefix(row.Pattern, "/"), "/")
		own := slices.Contains(strings.Fields("events live bursts nodes room join replicas labs"), first)
		if own != (row.Responder == route.Front) {
			t.Errorf("%s %s: the front answers it: %t", row.Method, row.Pattern, !own)
		}
		if absent := first == "nodes"; absent != (row.Handle == nil) {
			t.Errorf("%s %s is absent: %t", row.Method, row.Pattern, !absent)
		}
	}
}

// Every address that the page's modules request has a route.
func TestPageRequestsExist(t *testing.T) {
	mux, requests := route.Mux(every(&cluster.Front{}, &live.Nodes{})...), 0
	asks := regexp.MustCompile("\\b(get|save|stream|post|put|del)\\(\\s*[\"`](/[^\"`?$]*)([\"`?$])")
	methods := map[string]string{"get": "GET", "save": "GET", "stream": "GET", "post": "POST", "put": "PUT", "del": "DELETE"}
	err := fs.WalkDir(web.Files(), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".js" {
			return err
		}
		text, err := fs.ReadFile(web.Files(), name)
		for _, found := range asks.FindAllStringSubmatch(string(text), -1) {
			requests++
			at, method := found[2], methods[found[1]]
			if strings.HasSuffix(at, "/") {
				at += "x"
			}
			if strings.HasPrefix(at, "/labs/") {
				method = "POST" // it says so itself
			}
			if _, pattern := mux.Handler(httptest.NewRequestWithContext(t.Context(), method, at, http.NoBody)); pattern == "" {
				t.Errorf("%s asks for %s %s; want a route", name, method, at)
			}
		}
		return err
	})
	if err != nil || requests < 40 {
		t.Errorf("%d addresses are asked for, %v", requests, err)
	}
}
