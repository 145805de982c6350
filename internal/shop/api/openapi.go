package api

import (
	_ "embed" // the document
	"net/http"

	"github.com/gin-gonic/gin"
)

// openAPI says all that there is over HTTP, that of a cluster's front too. Tests hold it to the routes and to their answers.
//
//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the document at /openapi.json.
func OpenAPI() []byte { return openAPI }

func document(c *gin.Context) { c.Data(http.StatusOK, "application/json; charset=utf-8", openAPI) }
