package api

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"lockstep/internal/api/answer"
	"lockstep/internal/api/route"
)

// NewHandler registers rows in gin, in a group for each who, to be put behind an Entrance. net/http leaves out the body of the answer to
// HEAD.
func NewHandler(guard Guard, rows []route.Row) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.RedirectTrailingSlash = false
	engine.NoRoute(func(c *gin.Context) { refuseUnknown(c, guard, route.Administrator, route.ErrNotFound) })
	groups := map[route.Who]*gin.RouterGroup{}
	for _, who := range []route.Who{route.Reader, route.Participant, route.Administrator} {
		groups[who] = engine.Group("", func(c *gin.Context) {
			if err := guard.Refuse(c.Request, who); err != nil {
				answer.Error(c.Writer, err)
				c.Abort()
			}
		})
	}
	methods := map[string][]string{} // by pattern
	for _, row := range rows {
		methods[row.Pattern] = append(methods[row.Pattern], row.Method)
		handle := func(c *gin.Context) {
			for _, part := range c.Params {
				c.Request.SetPathValue(part.Key, strings.TrimPrefix(part.Value, "/"))
			}
			row.ServeHTTP(c.Writer, c.Request)
		}
		groups[row.Who].Handle(row.Method, ginPattern(row.Pattern), handle)
		if row.Method == http.MethodGet {
			groups[row.Who].HEAD(ginPattern(row.Pattern), handle)
		}
	}
	for pattern, allowed := range methods { // or gin would take another method for that of a pattern with a wildcard
		slices.Sort(allowed)
		for _, method := range unallowed(allowed) {
			engine.Handle(method, ginPattern(pattern), func(c *gin.Context) {
				refuseUnknown(c, guard, route.Participant, &answer.NotAllowed{Methods: allowed})
			})
		}
	}
	return engine
}

// unallowed returns the methods of HTTP that are none of those, nor HEAD beside GET.
func unallowed(methods []string) []string {
	return slices.DeleteFunc([]string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
		http.MethodTrace, http.MethodConnect, "QUERY",
	}, func(method string) bool {
		return slices.Contains(methods, method) || method == http.MethodHead && slices.Contains(methods, http.MethodGet)
	})
}

// refuseUnknown answers a request that no row is for. What there is not, and would change something, is few people's business.
func refuseUnknown(c *gin.Context, guard Guard, who route.Who, err error) {
	if isSafe(c.Request) {
		who = route.Reader
	}
	answer.Error(c.Writer, cmp.Or(guard.Refuse(c.Request, who), err))
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
