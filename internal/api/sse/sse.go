// Package sse writes and reads streams of server-sent events.
package sse

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"sync"
	"time"
)

// LastEventID is the header in which a reconnecting reader names the last event it has received.
const LastEventID = "Last-Event-ID"

// Event is one server-sent event.
type Event struct {
	ID   string // last id sent on the stream; empty: none so far
	Name string
	Data []byte // payload without line breaks, such as JSON
}

// Writer writes a response that is an event stream. It is safe for concurrent use.
type Writer struct {
	mu      sync.Mutex
	w       http.ResponseWriter
	control *http.ResponseController
}

// NewWriter sets the headers of an event stream and returns its writer.
func NewWriter(w http.ResponseWriter) *Writer {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // Otherwise nginx would buffer events.
	return &Writer{w: w, control: http.NewResponseController(w)}
}

// SetWriteTimeout sets the write deadline to d from now.
func (s *Writer) SetWriteTimeout(d time.Duration) {
	_ = s.control.SetWriteDeadline(time.Now().Add(d)) // Not every ResponseWriter supports deadlines.
}

// Write writes an event. Flush sends it.
func (s *Writer) Write(e Event) error {
	var text bytes.Buffer
	if e.ID != "" {
		fmt.Fprintf(&text, "id: %s\n", e.ID)
	}
	if e.Name != "" {
		fmt.Fprintf(&text, "event: %s\n", e.Name)
	}
	fmt.Fprintf(&text, "data: %s\n\n", e.Data)
	return s.write(text.Bytes())
}

// Comment writes a line that readers ignore. It keeps proxies from closing an idle stream.
func (s *Writer) Comment(text string) error { return s.write([]byte(": " + text + "\n\n")) }

// write writes text to the response.
func (s *Writer) write(text []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.w.Write(text)
	return err
}

// Flush sends everything written so far, or only the header.
func (s *Writer) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.control.Flush()
}

// Send writes an event with the value as JSON, and flushes it.
func (s *Writer) Send(name string, value any) error {
	data, err := json.Marshal(value)
	if err == nil {
		err = s.Write(Event{Name: name, Data: data})
	}
	if err == nil {
		err = s.Flush()
	}
	return err
}

// Read iterates over the events of a stream until it ends. A read error is yielded last; an incomplete event is dropped. longest is the
// maximum length of a line in bytes.
func Read(stream io.Reader, longest int) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewScanner(stream)
		lines.Buffer(nil, longest)
		var event Event
		for lines.Scan() {
			field, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch {
			case len(lines.Bytes()) == 0:
				if event.Data != nil && !yield(event, nil) {
					return
				}
				event = Event{ID: event.ID}
			case string(field) == "id":
				event.ID = string(value)
			case string(field) == "event":
				event.Name = string(value)
			case string(field) == "data":
				event.Data = slices.Concat(event.Data, value)
			}
		}
		if err := lines.Err(); err != nil {
			yield(event, err)
		}
	}
}
