package api

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"lockstep/internal/shop/answer"
	"lockstep/internal/shop/route"
)

// NewHandler registers rows in gin, in a group for each who, to be put behind an Entrance. net/http leaves out the body of the answer to
// HEAD.
func NewHandler(guard Guard, rows []route.Row) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.RedirectTrailingSlash, engine.HandleMethodNotAllowed = false, true
	engine.NoRoute(func(c *gin.Context) { refuseUnknown(c, guard, route.Administrator, route.ErrNotFound) })
	engine.NoMethod(func(c *gin.Context) {
		methods := strings.Split(c.Writer.Header().Get("Allow"), ", ")
		methods = slices.DeleteFunc(methods, func(method string) bool { return method == http.MethodHead })
		slices.Sort(methods)
		refuseUnknown(c, guard, route.Participant, &answer.NotAllowed{Methods: methods})
	})
	groups := map[route.Who]*gin.RouterGroup{}
	for _, who := range []route.Who{route.Reader, route.Participant, route.Administrator} {
		groups[who] = engine.Group("", func(c *gin.Context) {
			if err := guard.Refuse(c.Request, who); err != nil {
				answer.Error(c.Writer, err)
				c.Abort()
			}
		})
	}
	for _, row := range rows {
		methods := []string{row.Method}
		if row.Method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
		groups[row.Who].Match(methods, ginPattern(row.Pattern), func(c *gin.Context) {
			for _, part := range c.Params {
				c.Request.SetPathValue(part.Key, strings.TrimPrefix(part.Value, "/"))
			}
			row.ServeHTTP(c.Writer, c.Request)
		})
	}
	return engine
}

// refuseUnknown answers a request that no row is for. What there is not, and would change something, is few people's business.
func refuseUnknown(c *gin.Context, guard Guard, who route.Who, err error) {
	if isSafe(c.Request) {
		who = route.Reader
	}
	if refused := guard.Refuse(c.Request, who); refused != nil {
		c.Writer.Header().Del("Allow")
		err = refused
	}
	answer.Error(c.Writer, err)
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
