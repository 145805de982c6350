// Package route describes HTTP routes: the request, who may send it, who answers it, and the handler. Each package that serves HTTP returns
// its own rows, and package server combines them. A server registers rows in gin, in one group for each Access. A worker in a browser tab,
// which has no gin, registers them in net/http's mux. Begin with Row.
package route

import (
	"net/http"
	"strings"

	"lockstep/internal/api/answer"
	"lockstep/internal/lock"
)

// Access is the group of clients that may send a request.
type Access int

// The groups of clients, from the largest to the smallest.
const (
	Reader        Access = iota // everyone
	Participant                 // everyone except pages of other sites; such a request buys, plays, or makes the server work
	Administrator               // clients that pass the guard's administrator check, usually by the token
)

// Responder is the process that answers a request.
type Responder int

// The processes that answer requests.
const (
	Replica Responder = iota // a server that runs the shop; a cluster's reverse proxy forwards the request to one
	Front                    // the cluster's reverse proxy, or the server itself without one
	Page                     // every server, with a file of the page; not part of the API
	Tab                      // a worker of the page in a browser's tab; never a server
)

// Handler answers a request. If it returns an error, it has written nothing, and its caller writes the error as the response.
type Handler func(w http.ResponseWriter, r *http.Request) error

// FromHandler converts an http.Handler into a Handler that returns no error.
func FromHandler(h http.Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		h.ServeHTTP(w, r)
		return nil
	}
}

// Value returns a handler that responds with the result of find as JSON.
func Value[T any](find func(*http.Request) (T, error)) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		value, err := find(r)
		if err == nil {
			answer.Write(w, http.StatusOK, value)
		}
		return err
	}
}

// Row is one route. A row for GET also answers HEAD.
type Row struct {
	Method    string
	Pattern   string // pattern of http.ServeMux without the method; a trailing / matches that path only
	Access    Access
	Responder Responder
	Handle    Handler // nil: this server does not offer the route
}

// On returns the row with these fields.
func On(method, pattern string, who Access, by Responder, handle Handler) Row {
	return Row{method, pattern, who, by, handle}
}

// ServeHTTP calls the handler and writes its error as the response.
func (row Row) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := errNotOffered
	if row.Handle != nil {
		err = row.Handle(w, r)
	}
	if err != nil {
		answer.Error(w, err)
	}
}

// WithoutHandlers removes the handlers of rows that this server does not offer, and returns the rows.
func WithoutHandlers(rows []Row) []Row {
	for i := range rows {
		rows[i].Handle = nil
	}
	return rows
}

var (
	// ErrNotFound is returned for an unknown path.
	ErrNotFound   = lock.WithCode("not_found", "there is nothing here; try GET /")
	errNotOffered = lock.WithCode("not_found", "this server does not offer that: /replicas needs lockstep cluster, /nodes a server whose "+
		"masters for redlock are embedded, and labs a server that only this machine, or clients with its admin.token, may change")
)

// Mux registers rows in net/http's mux. It does not check who sends a request. It panics if two rows conflict.
func Mux(rows ...Row) *http.ServeMux {
	mux := http.NewServeMux()
	for _, row := range rows {
		pattern := row.Pattern
		if strings.HasSuffix(pattern, "/") {
			pattern += "{$}"
		}
		mux.Handle(row.Method+" "+pattern, row)
	}
	return mux
}
