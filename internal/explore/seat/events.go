package seat

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

// events is an answer that is a stream of server-sent events.
type events struct {
	mu sync.Mutex
	w  http.ResponseWriter
}

func newEvents(w http.ResponseWriter) *events {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would keep them back
	return &events{w: w}
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

// failed is the event that ends a stream for an error.
type failed struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// fail ends a stream with an error.
func (s *Seat) fail(e *events, err error) {
	_, code := s.errors.Status(err)
	e.send("failed", failed{code, err.Error()})
}

// progress is the event that says how far an exploration has come.
type progress struct {
	States  int  `json:"states"`
	Waiting bool `json:"waiting"` // for its turn
}
