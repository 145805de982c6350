package cluster

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/shop/api"
)

// What the document says is served by the front is, and the front answers nothing that the document does not have.
func TestTheDocumentKnowsTheFront(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]struct {
			ServedBy string `json:"x-served-by"`
		}
	}
	if err := json.Unmarshal(api.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	f := Front{Live: http.NotFoundHandler(), Nodes: http.NotFoundHandler(), Room: http.NotFoundHandler()}
	owns := func(method, path string) bool {
		return f.own(httptest.NewRequestWithContext(t.Context(), method, path, nil)) != nil
	}
	for path, operations := range doc.Paths {
		first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		alike := slices.Contains(strings.Fields("events live bursts nodes room join"), first) // a server answers them, too
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
			operation, has := operations[strings.ToLower(method)]
			if !has && alike {
				continue // answered with an error
			}
			if want := has && (operation.ServedBy == "front" || alike); owns(method, path) != want {
				t.Errorf("%s %s: the front answers it: %t; the document says %t", method, path, !want, want)
			}
		}
	}
}
