// Package route has the rows of what there is over HTTP: which request, who may send it, who answers it, and how. It knows no shop: each
// room has its rows, and a server puts them together. A server registers them in gin, a group for each who; a worker of a browser's tab,
// where there is no gin, in net/http's mux.
package route

import (
	"net/http"
	"strings"

	"lockstep/internal/api/answer"
	"lockstep/internal/lock"
)

// Who may send a request.
type Who int

// From everybody to few.
const (
	Reader        Who = iota // everybody
	Participant              // everybody but a page of another site: it buys, plays, or lets the server work
	Administrator            // whoever has the token
)

// By is who answers.
type By int

// Those who answer.
const (
	Replica By = iota // any server; a cluster's front passes the request on
	Front             // a cluster's front, if there is one, or else the server
	Page              // any server, with a file of the page: no interface
	Tab               // a worker of the page in a browser's tab; no server
)

// Handler answers a request. If it fails, nothing has been answered yet, and the error is the answer.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Of returns the handler that answers as another does.
func Of(h http.Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		h.ServeHTTP(w, r)
		return nil
	}
}

// Value returns the handler that answers with a value, as JSON.
func Value[T any](find func(*http.Request) (T, error)) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		value, err := find(r)
		if err == nil {
			answer.Write(w, http.StatusOK, value)
		}
		return err
	}
}

// Row is one route. A GET is also for HEAD.
type Row struct {
	Method  string
	Pattern string // as of http.ServeMux, without a method; one that ends with / is that path alone
	Who     Who
	By      By
	Handle  Handler // nil: this server has no such thing
}

// On returns a row.
func On(method, pattern string, who Who, by By, handle Handler) Row {
	return Row{method, pattern, who, by, handle}
}

// ServeHTTP answers as the handler does, or with its error.
func (row Row) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := errAbsent
	if row.Handle != nil {
		err = row.Handle(w, r)
	}
	if err != nil {
		answer.Error(w, err)
	}
}

// Absent returns rows of which this server has nothing.
func Absent(rows []Row) []Row {
	for i := range rows {
		rows[i].Handle = nil
	}
	return rows
}

var (
	// ErrNotFound is that of a path that there is not.
	ErrNotFound = lock.WithCode("not_found", "there is nothing here; try GET /")
	errAbsent   = lock.WithCode("not_found", "this server has no such thing: /replicas is of lockstep cluster, "+
		"/nodes of a server whose masters for redlock are embedded, and labs run on one that only this machine, or its admin.token, may change")
)

// Mux registers rows in net/http's mux. It asks nobody who may send a request. Two rows for the same requests are a bug: it panics.
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
