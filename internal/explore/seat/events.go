package seat

import (
	"net/http"

	"lockstep/internal/shop/sse"
)

// events is an answer that is a stream of server-sent events.
type events struct {
	stream *sse.Writer
	ticket *ticket // where it waits for its turn to explore
}

// stream answers with the events that tell sends. An error of it is the last one.
func (s *Seat) stream(w http.ResponseWriter, r *http.Request, tell func(*events) error) error {
	ticket, err := s.turns.join(s.limits.Client(r))
	if err != nil {
		return err
	}
	defer ticket.leave()
	e := &events{sse.NewWriter(w), ticket}
	if err := tell(e); err != nil {
		_, code := s.errors.Status(err)
		e.send("failed", map[string]string{"code": code, "message": err.Error()})
	}
	return nil
}

// send sends one. Whether somebody reads it is seen by the request's context.
func (e *events) send(name string, value any) { _ = e.stream.Send(name, value) }

// progress is the event that says how far an exploration has come.
type progress struct {
	States  int  `json:"states"`
	Waiting bool `json:"waiting"` // for its turn
}
