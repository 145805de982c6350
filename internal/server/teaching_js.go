package server

import (
	"net"
	"net/http"

	"lockstep/internal/api"
	"lockstep/internal/api/route"
)

// teaching is empty in a tab: files and another program serve what a server offers beside its shop.
type teaching struct{}

func newTeaching(api.Guard, net.Addr, func(*http.Request) string, string) teaching { return teaching{} }

func (teaching) closers() []func() { return nil }

func (teaching) routes() []route.Row { return nil }
