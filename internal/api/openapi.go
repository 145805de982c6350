package api

import (
	_ "embed" // the document
	"net/http"
)

// openAPI documents the whole HTTP API, including that of a cluster's reverse proxy. Tests compare it with the table of routes and with
// their answers.
//
//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the document at /openapi.json.
func OpenAPI() []byte { return openAPI }

// document handles GET /openapi.json.
func document(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, err := w.Write(openAPI)
	return err
}
