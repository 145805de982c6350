package live

import (
	"net/http"

	"lockstep/internal/lock"
	"lockstep/internal/shop/api"
)

var errEnding = lock.WithCode("ending", "the server is ending")

// Server is what is served of a shop to those who watch it, by a server or by a cluster's front.
type Server struct {
	Hub    *Hub
	Bursts *Bursts
}

// answering is a handler that may fail, with an error that says its code.
type answering func(w http.ResponseWriter, r *http.Request) error

// ServeHTTP answers with the error, if there is one.
func (serve answering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := serve(w, r); err != nil {
		api.Answer(w, nil, err)
	}
}

// Handler serves /live and what is below it, and /bursts. Requests have passed the guard.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /live", s.Hub)
	mux.Handle("GET /live/pair", answering(s.Hub.answerPair))
	mux.Handle("POST /bursts", answering(s.Bursts.post))
	mux.Handle("GET /bursts/{id}", answering(s.Bursts.get))
	mux.Handle("DELETE /bursts/{id}", answering(s.Bursts.end))
	return api.Routed(mux)
}

// Close ends what watchers see, and the burst that is going on.
func (s *Server) Close() {
	s.Bursts.Close()
	s.Hub.Close()
}
