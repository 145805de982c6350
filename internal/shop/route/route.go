// Package route is the table of what there is over HTTP: which request, who may send it, who answers it, and how. It knows no shop: each
// room has its rows, and a server puts them together. A server registers the table in gin; its guard, the front and the tab read it.
package route

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"lockstep/internal/lock"
	"lockstep/internal/shop/answer"
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

// ServeHTTP answers with the error, if the handler fails.
func (row *Row) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := row.Answer(w, r); err != nil {
		answer.Error(w, err)
	}
}

// Answer calls the handler, if there is one.
func (row *Row) Answer(w http.ResponseWriter, r *http.Request) error {
	if row.Handle == nil {
		return errAbsent
	}
	return row.Handle(w, r)
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
		"/nodes of a server whose masters for redlock are embedded")
)

// Table is all routes.
type Table struct {
	Rows []Row

	mux *http.ServeMux
	of  map[string][]*Row // by their patterns, as the mux has them
}

// NewTable makes a table. Two rows that no request tells apart are a bug: it panics.
func NewTable(rows ...Row) *Table {
	t := &Table{Rows: rows, mux: http.NewServeMux(), of: map[string][]*Row{}}
	for i := range rows {
		pattern := rows[i].Pattern
		if strings.HasSuffix(pattern, "/") {
			pattern += "{$}"
		}
		if t.of[pattern] == nil {
			t.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
				row, err := pick(t.of[pattern], r.Method)
				if err != nil {
					answer.Error(w, err)
					return
				}
				row.ServeHTTP(w, r)
			})
		}
		if _, err := pick(t.of[pattern], rows[i].Method); err == nil {
			panic("two rows for " + rows[i].Method + " " + pattern)
		}
		t.of[pattern] = append(t.of[pattern], &rows[i])
	}
	return t
}

// Find returns the row of a request. It fails with ErrNotFound, or, if the path has other methods, with an answer.NotAllowed.
func (t *Table) Find(r *http.Request) (*Row, error) {
	if plain := plain(r); plain != nil {
		if _, pattern := t.mux.Handler(plain); pattern != "" {
			return pick(t.of[pattern], r.Method)
		}
	}
	return nil, ErrNotFound
}

// ServeHTTP answers as the row of a request does. It asks nobody who may send it.
func (t *Table) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := t.Find(r); err != nil {
		answer.Error(w, err)
		return
	}
	t.mux.ServeHTTP(w, plain(r))
}

// plain returns a request by its path alone, however that was escaped, so that a handler gets no other request than was allowed; nil if
// the path is not in its shortest form.
func plain(r *http.Request) *http.Request {
	shortest := path.Clean(r.URL.Path)
	if strings.HasSuffix(r.URL.Path, "/") && shortest != "/" {
		shortest += "/"
	}
	if shortest != r.URL.Path || !strings.HasPrefix(shortest, "/") || r.Method == http.MethodConnect {
		return nil
	}
	p := r.WithContext(r.Context())
	p.URL = &url.URL{Path: r.URL.Path, RawQuery: r.URL.RawQuery}
	return p
}

// pick returns the row of a method among those of one pattern.
func pick(rows []*Row, method string) (*Row, error) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var methods []string
	for _, row := range rows {
		if row.Method == method {
			return row, nil
		}
		methods = append(methods, row.Method)
	}
	slices.Sort(methods)
	return nil, &answer.NotAllowed{Methods: methods}
}
