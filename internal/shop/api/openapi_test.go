package api

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
)

// operations lists what the document has, as "GET /lock": that of the front, or that of a server.
func operations(t *testing.T, ofFront bool) (all []string) {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			ServedBy string `json:"x-served-by"`
		}
	}
	if err := json.Unmarshal(OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	for path, of := range doc.Paths {
		for method, operation := range of {
			if (operation.ServedBy == "front") == ofFront {
				all = append(all, strings.ToUpper(method)+" "+path)
			}
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
		if !strings.HasPrefix(route.Path, "/web/") && !strings.HasSuffix(route.Path, "/*path") {
			routed = append(routed, route.Method+" "+parameter.ReplaceAllString(route.Path, "{$1}"))
		}
	}
	slices.Sort(routed)
	documented := slices.DeleteFunc(operations(t, false), func(o string) bool {
		return strings.HasPrefix(o, "GET /seat/") || o == "GET /" && !slices.Contains(routed, o) // which the page brings along
	})
	if !slices.Equal(routed, documented) {
		t.Errorf("routed is\n%s\nand the document has\n%s", strings.Join(routed, "\n"), strings.Join(documented, "\n"))
	}
}

// counted is a Metrics that counts nothing.
type counted struct{ http.Handler }

func (counted) Answered(string) {}
