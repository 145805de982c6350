package seat

import (
	"context"
	"fmt"
	"net/http"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/lock"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/shop/route"
	"lockstep/internal/web"
)

// Server serves a seat.
type Server struct {
	seat       *Seat
	client     func(*http.Request) string
	close      context.CancelFunc
	afterClose func(func()) (stop func() bool)
}

// NewServer makes a server. A client is whose a request is: clients take turns.
func NewServer(s *Seat, client func(*http.Request) string) *Server {
	open, cancel := context.WithCancel(context.Background())
	return &Server{
		seat: s, client: client, close: cancel,
		afterClose: func(f func()) (stop func() bool) { return context.AfterFunc(open, f) },
	}
}

// Close ends what is being explored: a server that ends waits for no table.
func (s *Server) Close() { s.close() }

// Routes returns the routes of the seat.
func (s *Server) Routes() []route.Row {
	rows := []route.Row{
		route.On("GET", "/seat", route.Reader, route.Replica, route.Value(s.index)),
		route.On("GET", "/seat/state", route.Participant, route.Replica, route.Value(s.state)),
		route.On("GET", "/seat/file", route.Participant, route.Replica, s.file),
		route.On("GET", "/seat/hint", route.Participant, route.Replica, route.Value(s.hint)),
		route.On("GET", "/seat/oracle", route.Participant, route.Replica, s.oracle),
		route.On("GET", "/seat/explore", route.Participant, route.Replica, s.explore),
		route.On("GET", "/seat/beside", route.Participant, route.Replica, route.Value(s.beside)),
		route.On("GET", "/seat/table", route.Participant, route.Replica, s.table),
	}
	for i := range rows {
		rows[i].Handle = s.open(rows[i].Handle)
	}
	return rows
}

// open returns a handler whose context ends when the server closes, too. What it answers is kept nowhere.
func (s *Server) open(handle route.Handler) route.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer s.afterClose(cancel)()
		w.Header().Set("Cache-Control", "no-store")
		return handle(w, r.WithContext(ctx))
	}
}

func (s *Server) index(r *http.Request) (index Index, err error) {
	in, err := languageOf(r.URL.Query())
	if err == nil {
		index = s.seat.Index(in)
	}
	return index, err
}

func (s *Server) state(r *http.Request) (state State, err error) {
	p, err := placeOf(r.URL.Query())
	if err == nil {
		state, err = s.seat.State(r.Context(), s.client(r), p)
	}
	return state, err
}

func (s *Server) beside(r *http.Request) (both Beside, err error) {
	p, err := placeOf(r.URL.Query())
	if err != nil {
		return both, err
	}
	with, err := evolution.Find(r.URL.Query().Get("with"))
	if err != nil {
		return both, fmt.Errorf("with: %w", err)
	}
	if err := p.Scenario.CheckFor(with); err != nil {
		return both, lock.WithCode("bad_request", nodesNeeded(with.Name, p.Scenario))
	}
	return s.seat.Beside(r.Context(), s.client(r), p, with)
}

func (s *Server) file(w http.ResponseWriter, r *http.Request) error {
	p, err := placeOf(r.URL.Query())
	if err != nil {
		return err
	}
	goal := explore.Anomaly("")
	if r.URL.Query().Has("anomaly") {
		if goal, err = anomalyOf(r.URL.Query(), p.Strategy); err != nil {
			return err
		}
	}
	document, err := s.seat.Document(r.Context(), s.client(r), p, goal)
	if err == nil {
		web.Save(w, "lockstep-"+p.Strategy.Name+".html", document)
	}
	return err
}

func (s *Server) hint(r *http.Request) (hint session.Hint, err error) {
	session, a, err := s.session(r)
	if err == nil {
		hint, err = s.seat.Hint(r.Context(), s.client(r), session, a)
	}
	return hint, err
}

// session returns the one that a request is about, and the anomaly.
func (s *Server) session(r *http.Request) (*session.Session, explore.Anomaly, error) {
	p, err := placeOf(r.URL.Query())
	if err != nil {
		return nil, "", err
	}
	a, err := anomalyOf(r.URL.Query(), p.Strategy)
	if err != nil {
		return nil, "", err
	}
	session, err := s.seat.Session(r.Context(), s.client(r), p)
	return session, a, err
}
