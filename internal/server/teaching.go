//go:build !js

package server

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"lockstep/docs"
	"lockstep/internal/api"
	"lockstep/internal/api/route"
	"lockstep/internal/classroom"
	"lockstep/internal/explore/seat"
	"lockstep/internal/lab"
	"lockstep/internal/site"
	"lockstep/internal/steps"
	"lockstep/internal/web"
)

// teachingParts are the parts that teach: the seat, the classroom and the labs. Their routes include the comparison of steps and the page.
type teachingParts struct {
	seat  *seat.Seat           // scheduler's seat
	class *classroom.Classroom // rooms of the course
	labs  *lab.Runner          // labs on the running service
}

// newTeaching returns the teaching parts of a server at addr. client returns the address that a request comes from. program is the
// executable that runs the labs; "" runs none.
func newTeaching(guard api.Guard, addr net.Addr, client func(*http.Request) string, program string) teachingParts {
	t := teachingParts{seat: seat.New(seat.DefaultLimits(), client), class: classroom.New(docs.Course()), labs: newLabs(guard, program)}
	t.class.Addr, t.class.Client = addr, client
	return t
}

// closers returns the functions that end the event streams of the parts.
func (t teachingParts) closers() []func() { return []func(){t.class.Close, t.seat.Close, t.labs.Close} }

// routes returns the routes of the parts and of the page's files.
func (t teachingParts) routes() []route.Row {
	return slices.Concat(t.seat.Routes(), steps.Routes(), t.labs.Routes(), t.class.Routes(), pages())
}

// pages returns the routes of the page's files.
func pages() []route.Row {
	all := []route.Row{
		route.On("GET", tabPath+"{file...}", route.Reader, route.Page, route.FromHandler(site.Handler(tabPath, web.TabPolicy, findTab))),
		route.On("GET", strings.TrimSuffix(tabPath, "/"), route.Reader, route.Page,
			route.FromHandler(http.RedirectHandler(tabPath, http.StatusMovedPermanently))),
	}
	for path, file := range web.Handlers() {
		all = append(all, route.On("GET", path, route.Reader, route.Page, route.FromHandler(file)))
	}
	return all
}
