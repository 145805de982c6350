package live

import (
	"errors"
	"net/http"

	"lockstep/internal/shop/api"
)

var errNothing = errors.New("there is nothing here, or not with this method")

// Server is what is served of a shop to those who watch it, by a server or by a cluster's front.
type Server struct {
	Hub    *Hub
	Bursts *Bursts
}

// Handler serves /live and what is below it, and /bursts. Requests have passed the guard.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /live", s.Hub)
	mux.HandleFunc("GET /live/pair", s.Hub.Pair)
	mux.Handle("GET /live/file", files{hub: s.Hub, room: make(chan struct{}, mostFiles)})
	mux.Handle("POST /bursts", s.Bursts)
	mux.Handle("GET /bursts/{id}", s.Bursts)
	mux.Handle("DELETE /bursts/{id}", s.Bursts)
	mux.HandleFunc("/", nothing)
	return mux
}

func nothing(w http.ResponseWriter, _ *http.Request) {
	api.WriteError(w, http.StatusNotFound, "not_found", errNothing)
}

// Close ends what watchers see, and the burst that is going on.
func (s *Server) Close() {
	s.Bursts.Close()
	s.Hub.Close()
}
