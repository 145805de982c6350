package server

import (
	"net"
	"net/http"

	"lockstep/internal/api/route"
)

// beside is nothing in a tab: files, and another program, answer what a server has beside its shop.
type beside struct{}

func newBeside(net.Addr, func(*http.Request) string) beside { return beside{} }

func (beside) closers() []func() { return nil }

func (beside) routes() []route.Row { return nil }
