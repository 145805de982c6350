package api

import (
	_ "embed" // the document
	"net/http"
)

// openAPI says all that there is over HTTP, that of a cluster's front too. Tests hold it to the table of routes and to their answers.
//
//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the document at /openapi.json.
func OpenAPI() []byte { return openAPI }

func document(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, err := w.Write(openAPI)
	return err
}
