package server

import (
	"net"
	"net/http"

	"lockstep/internal/api"
	"lockstep/internal/api/route"
)

// teachingParts is empty in a browser tab. There, static files hold the page and the course, the program site/seat provides the seat, and
// the program site/shop, started as lab, runs the labs.
type teachingParts struct{}

func newTeaching(api.Guard, net.Addr, func(*http.Request) string, string) teachingParts {
	return teachingParts{}
}

func (teachingParts) closers() []func() { return nil }

func (teachingParts) routes() []route.Row { return nil }
