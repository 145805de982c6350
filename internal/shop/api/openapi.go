package api

import (
	_ "embed" // the document
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// openAPI says all that there is over HTTP, that of a cluster's front too. Tests hold it to the routes and to their answers.
//
//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the document at /openapi.json.
func OpenAPI() []byte { return openAPI }

func document(c *gin.Context) { c.Data(http.StatusOK, "application/json; charset=utf-8", openAPI) }

// Operations are the methods of each path of the document, in capitals. A segment of a path in braces is any.
type Operations map[string][]string

// DocumentedOperations reads those of OpenAPI.
func DocumentedOperations() Operations {
	var document struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	_ = json.Unmarshal(openAPI, &document) // a part of the program, which tests read
	operations := Operations{}
	for path, item := range document.Paths {
		for method := range item {
			operations[path] = append(operations[path], strings.ToUpper(method))
		}
		slices.Sort(operations[path])
	}
	return operations
}

// methods returns those of a path: of the pattern that is the path itself, or else of one that it fits.
func (o Operations) methods(path string) []string {
	if methods, is := o[path]; is {
		return methods
	}
	segments := strings.Split(path, "/")
	for pattern, methods := range o {
		if slices.EqualFunc(segments, strings.Split(pattern, "/"), func(segment, want string) bool {
			return segment == want || strings.HasPrefix(want, "{") && segment != ""
		}) {
			return methods
		}
	}
	return nil
}
