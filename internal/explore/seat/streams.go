package seat

import (
	"net/http"

	"lockstep/internal/shop/answer"
	"lockstep/internal/shop/sse"
)

func (s *Server) oracle(w http.ResponseWriter, r *http.Request) error {
	session, a, err := s.session(r)
	if err != nil {
		return err
	}
	return s.stream(w, r, func(t *Ticket, tell Tell) (any, error) {
		return s.seat.Oracle(r.Context(), t, session, a, tell)
	})
}

func (s *Server) explore(w http.ResponseWriter, r *http.Request) error {
	request, err := requestOf(r.URL.Query())
	if err != nil {
		return err
	}
	return s.stream(w, r, func(t *Ticket, tell Tell) (any, error) {
		return s.seat.Explore(r.Context(), t, request, tell)
	})
}

func (s *Server) table(w http.ResponseWriter, r *http.Request) error {
	in, err := languageOf(r.URL.Query())
	if err != nil {
		return err
	}
	anew := r.URL.Query().Has("anew")
	return s.stream(w, r, func(t *Ticket, tell Tell) (any, error) { return s.seat.Table(r.Context(), t, in, anew, tell) })
}

// stream answers with the events of an exploration: what it tells, and at last what it has found, or its error.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, explore func(*Ticket, Tell) (any, error)) error {
	ticket, err := s.seat.Join(s.client(r))
	if err != nil {
		return err
	}
	defer ticket.Leave()
	stream := sse.NewWriter(w)
	tell := func(name string, value any) { _ = stream.Send(name, value) } // whether somebody reads it is seen by the request's context
	found, err := explore(ticket, tell)
	if err != nil {
		_, code := answer.StatusOf(err)
		tell("failed", map[string]string{"code": code, "message": err.Error()})
		return nil
	}
	tell("done", found)
	return nil
}
