package live

import (
	"lockstep/internal/lock"
	"lockstep/internal/shop/api"
	"lockstep/internal/shop/route"
)

var errEnding = lock.WithCode("ending", "the server is ending")

// Server is what is served of a shop to those who watch it, by a server or by a cluster's front.
type Server struct {
	Hub     *Hub
	Bursts  *Bursts
	Streams *api.Streams // bounds those of the hub; nil: there is no bound
}

// Routes returns the routes of those who watch.
func (s *Server) Routes() []route.Row {
	return []route.Row{
		route.On("GET", "/live", route.Reader, route.Front, s.Streams.Bound(s.Hub.stream)),
		route.On("GET", "/live/pair", route.Reader, route.Front, s.Hub.answerPair),
		route.On("POST", "/bursts", route.Administrator, route.Front, s.Bursts.post),
		route.On("GET", "/bursts/{id}", route.Reader, route.Front, s.Bursts.get),
		route.On("DELETE", "/bursts/{id}", route.Administrator, route.Front, s.Bursts.end),
	}
}

// Close ends what watchers see, and the burst that is going on.
func (s *Server) Close() {
	s.Bursts.Close()
	s.Hub.Close()
}
