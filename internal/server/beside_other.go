//go:build !js

package server

import (
	"net"
	"net/http"
	"strings"

	"lockstep/docs"
	"lockstep/internal/api/route"
	"lockstep/internal/classroom"
	"lockstep/internal/explore/seat"
	"lockstep/internal/lab"
	"lockstep/internal/steps"
	"lockstep/internal/web"
)

// beside is what there is beside a shop: the seat, the classroom, and the page.
type beside struct {
	seat  *seat.Seat
	class *classroom.Classroom
}

func newBeside(addr net.Addr, client func(*http.Request) string) beside {
	b := beside{seat: seat.New(seat.Usual(), client), class: classroom.New(docs.Course())}
	b.class.Addr, b.class.Client = addr, client
	return b
}

func (b beside) closers() []func() { return []func(){b.class.Close, b.seat.Close} }

func (b beside) routes() []route.Row {
	rows := append(b.seat.Routes(), steps.Routes()...)
	rows = append(rows, lab.Routes()...)
	rows = append(rows, b.class.Routes()...)
	return append(rows, pages()...)
}

// pages returns the routes of the page's files.
func pages() []route.Row {
	all := []route.Row{
		route.On("GET", tabPath+"{file...}", route.Reader, route.Page, route.Of(tab())),
		route.On("GET", strings.TrimSuffix(tabPath, "/"), route.Reader, route.Page,
			route.Of(http.RedirectHandler(tabPath, http.StatusMovedPermanently))),
	}
	for path, file := range web.Handlers() {
		all = append(all, route.On("GET", path, route.Reader, route.Page, route.Of(file)))
	}
	return all
}
