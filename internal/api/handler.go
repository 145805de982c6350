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

// NewHandler registers rows in gin, in one group for each Who. Put the handler behind an Entrance. net/http omits the body of
// a HEAD response.
func NewHandler(guard Guard, rows []route.Row) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.RedirectTrailingSlash = false
	engine.NoRoute(func(c *gin.Context) { refuseUnknown(c, guard, route.Administrator, route.ErrNotFound) })
	groups := map[route.Access]*gin.RouterGroup{}
	for _, who := range []route.Access{route.Reader, route.Participant, route.Administrator} {
		groups[who] = engine.Group("", func(c *gin.Context) {
			if err := guard.Refuse(c.Request, who); err != nil {
				answer.Error(c.Writer, err)
				c.Abort()
			}
		})
	}
	methods := map[string][]string{} // methods of each pattern
	for _, row := range rows {
		methods[row.Pattern] = append(methods[row.Pattern], row.Method)
		handle := func(c *gin.Context) {
			for _, part := range c.Params {
				c.Request.SetPathValue(part.Key, strings.TrimPrefix(part.Value, "/"))
			}
			row.ServeHTTP(c.Writer, c.Request)
		}
		groups[row.Access].Handle(row.Method, ginPattern(row.Pattern), handle)
		if row.Method == http.MethodGet {
			groups[row.Access].HEAD(ginPattern(row.Pattern), handle)
		}
	}
	// Otherwise gin would match another method to a pattern with a wildcard.
	for pattern, allowed := range methods {
		slices.Sort(allowed)
		for _, method := range methodsNotAllowed(allowed) {
			engine.Handle(method, ginPattern(pattern), func(c *gin.Context) {
				refuseUnknown(c, guard, route.Participant, &answer.NotAllowed{Methods: allowed})
			})
		}
	}
	return engine
}

// methodsNotAllowed returns the HTTP methods that are not in methods. HEAD is allowed wherever GET is.
func methodsNotAllowed(methods []string) []string {
	return slices.DeleteFunc([]string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
		http.MethodTrace, http.MethodConnect, "QUERY",
	}, func(method string) bool {
		return slices.Contains(methods, method) || method == http.MethodHead && slices.Contains(methods, http.MethodGet)
	})
}

// refuseUnknown answers a request that matches no row. For an unsafe method it tells only clients in who that nothing is there.
func refuseUnknown(c *gin.Context, guard Guard, who route.Access, err error) {
	if isSafe(c.Request) {
		who = route.Reader
	}
	answer.Error(c.Writer, cmp.Or(guard.Refuse(c.Request, who), err))
}

// wildcard matches a wildcard of http.ServeMux, with its name and the dots of a wildcard that matches the rest of the path.
var wildcard = regexp.MustCompile(`\{(\w+)(\.\.\.)?\}`)

// ginPattern converts a pattern of http.ServeMux to gin's syntax.
func ginPattern(pattern string) string {
	return wildcard.ReplaceAllStringFunc(pattern, func(part string) string {
		name, isRest := strings.CutSuffix(strings.Trim(part, "{}"), "...")
		if isRest {
			return "*" + name
		}
		return ":" + name
	})
}
