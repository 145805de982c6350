package seat

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

// events is an answer that is a stream of server-sent events.
type events struct {
	ticket *ticket // where it waits for its turn to explore

	mu sync.Mutex
	w  http.ResponseWriter
}

// stream answers with the events that tell sends. An error of it is the last one.
func (s *Seat) stream(w http.ResponseWriter, r *http.Request, tell func(*events) error) error {
	ticket, err := s.turns.join(s.limits.Client(r))
	if err != nil {
		return err
	}
	defer ticket.leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would keep them back
	e := &events{ticket: ticket, w: w}
	if err := tell(e); err != nil {
		_, code := s.errors.Status(err)
		e.send("failed", map[string]string{"code": code, "message": err.Error()})
	}
	return nil
}

// send sends one. Whether somebody reads it is seen by the request's context.
func (e *events) send(name string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // a value of this package is no JSON
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", name, text)
	_ = http.NewResponseController(e.w).Flush()
}

// progress is the event that says how far an exploration has come.
type progress struct {
	States  int  `json:"states"`
	Waiting bool `json:"waiting"` // for its turn
}
