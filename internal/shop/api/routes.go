package api

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"lockstep/internal/language"
)

// Language returns the language that a request asks for by lang; English, if it does not ask for one.
func Language(r *http.Request) (language.Language, error) {
	in, err := language.Parse(cmp.Or(r.URL.Query().Get("lang"), string(language.English)))
	if err != nil {
		return in, BadRequest(fmt.Errorf("lang: %w", err), "as in ?lang=zh")
	}
	return in, nil
}

// absent answers for what some servers have, and this one has not.
var absent http.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { Answer(w, nil, errAbsent) })

// ownMethods returns the methods of a path that is routed by its own name, for Allow: gin also counts those of a pattern like it.
func ownMethods(routes gin.RoutesInfo, path string) (methods []string) {
	for _, route := range routes {
		if route.Path == path {
			methods = append(methods, route.Method)
		}
	}
	if path == answerPath || path == solvedPath {
		methods = []string{http.MethodPost}
	}
	slices.Sort(methods)
	return methods
}

// only answers requests of any method that no other pattern has: there is this one.
func only(method string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		Answer(w, nil, &methodError{[]string{method}})
	})
}

// Routed returns the handler of a mux that answers as errors what is not in it, also with Allow. Posted are paths that take POST alone,
// whatever pattern they fit.
func Routed(mux *http.ServeMux, posted ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost && slices.Contains(posted, r.URL.Path) {
			only(http.MethodPost).ServeHTTP(w, r)
			return
		}
		handler, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		said := refusal{header: http.Header{}}
		handler.ServeHTTP(&said, r)
		if allow := said.header.Get("Allow"); allow != "" {
			Answer(w, nil, &methodError{[]string{allow}})
			return
		}
		Answer(w, nil, errNotFound)
	})
}

// refusal is what a mux answers if it has no handler.
type refusal struct{ header http.Header }

func (r *refusal) Header() http.Header              { return r.header }
func (*refusal) WriteHeader(int)                    {}
func (*refusal) Write(text []byte) (n int, _ error) { return len(text), nil }

// route is one that a handler of another package serves.
type route struct {
	method, path string
	handler      http.Handler // nil: this server has no such thing
}

func (a *API) elsewhere() []route {
	return []route{
		{http.MethodGet, "/metrics", a.Metrics},
		{http.MethodGet, "/events", a.Streams.Bound(a.Events)},
		{http.MethodGet, "/live", a.Streams.Bound(a.Live)},
		{http.MethodGet, "/live/pair", a.Live},
		{http.MethodPost, "/bursts", a.Live},
		{http.MethodGet, "/bursts/:id", a.Live},
		{http.MethodDelete, "/bursts/:id", a.Live},
		{http.MethodGet, "/nodes", a.NodeFaults},
		{http.MethodPost, "/nodes/:node", a.NodeFaults},
		{http.MethodGet, "/replicas", nil}, // of a cluster's front
		{http.MethodPost, "/replicas/:name", nil},
		{http.MethodGet, "/seat", a.Seat},
		{http.MethodGet, "/seat/*path", a.Seat},
		{http.MethodGet, "/labs", a.Labs},
		{http.MethodGet, "/course", a.Course},
		{http.MethodGet, "/course/:lesson", a.Course},
		{http.MethodGet, "/room", a.Course},
		{http.MethodPost, "/room", a.Course},
		{http.MethodPut, "/room", a.Course},
		{http.MethodDelete, "/room", a.Course},
		{http.MethodGet, "/room/:lesson", a.Course},
		{http.MethodGet, roomJoinPath, a.Course},
		{http.MethodGet, "/room/board", a.Course},
		{http.MethodPost, roomJoinPath, a.Course},
		{http.MethodGet, participantsPath, a.Course},
		{http.MethodDelete, participantsPath + "/:who", a.Course},
		{http.MethodPost, answerPath, a.Course},
		{http.MethodPost, solvedPath, a.Course},
		{http.MethodGet, "/join", a.Course},
	}
}
