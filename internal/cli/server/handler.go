package server

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/gin-gonic/gin"

	"lockstep/internal/shop/answer"
	"lockstep/internal/shop/api"
	"lockstep/internal/shop/route"
)

// newHandler registers a guard's routes in gin, to be put behind an Entrance. net/http leaves out the body of the answer to HEAD.
func newHandler(guard api.Guard) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.RedirectTrailingSlash = false
	engine.NoRoute(func(c *gin.Context) { serve(c, guard, nil) })
	for i := range guard.Routes.Rows {
		row := &guard.Routes.Rows[i]
		handler := func(c *gin.Context) { serve(c, guard, row) }
		engine.Handle(row.Method, ginPattern(row.Pattern), handler)
		if row.Method == http.MethodGet {
			engine.HEAD(ginPattern(row.Pattern), handler)
		}
	}
	return engine
}

var wildcard = regexp.MustCompile(`\{(\w+)(\.\.\.)?\}`)

// ginPattern returns a pattern as gin writes it.
func ginPattern(pattern string) string {
	return wildcard.ReplaceAllStringFunc(pattern, func(part string) string {
		name, isRest := strings.CutSuffix(strings.Trim(part, "{}"), "...")
		if isRest {
			return "*" + name
		}
		return ":" + name
	})
}

// serve answers a request that gin takes for a row's, if the guard lets it pass, and takes it for the same.
func serve(c *gin.Context, guard api.Guard, routed *route.Row) {
	row, err := guard.Check(c.Request)
	if err == nil && row != routed {
		err = route.ErrNotFound
	}
	if err == nil {
		for _, part := range c.Params {
			c.Request.SetPathValue(part.Key, strings.TrimPrefix(part.Value, "/"))
		}
		err = row.Answer(c.Writer, c.Request)
	}
	if err != nil {
		answer.Error(c.Writer, err)
	}
}
